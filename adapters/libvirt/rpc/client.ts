import { InfraError } from "../../host/infra-error.ts";
import type { LibvirtEvent } from "./events.ts";
import type { ArgsOf, ProcedureName, ResultOf } from "./procedures.ts";

export type LibvirtClientState = "connecting" | "connected" | "closed";

export interface CallOptions {
  /** Gives up the wait. What libvirt has begun goes on. */
  readonly signal?: AbortSignal;
  /** How long to wait for the answer: a minute, but for procedures that may take long without end, unless told. */
  readonly timeoutMs?: number;
}

/**
 * A client of one libvirt daemon that connects by itself, again and again. What libvirt refuses is an InfraError by
 * `errors.ts`; without a connection, and when it is lost while an answer is awaited, that is LIBVIRT_UNAVAILABLE.
 */
export interface LibvirtClient {
  /**
   * Calls a procedure of the description.
   * @throws InfraError LIBVIRT_UNAVAILABLE, the reasons of errors.ts, INVALID_FIELD for arguments that do not fit the wire
   */
  call<Name extends ProcedureName>(
    name: Name,
    args: ArgsOf<Name>,
    options?: CallOptions,
  ): Promise<ResultOf<Name>>;
  /** What a volume holds, in pieces of up to 256 KiB, at the reader's pace. Leaving the loop ends the transfer. */
  download(args: ArgsOf<"storageVolDownload">, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Writes a volume at libvirt's pace. Resolves when libvirt has written all of it. */
  upload(
    args: ArgsOf<"storageVolUpload">,
    source: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Calls back for every event, which must not throw. Returns the function that ends it. */
  subscribe(onEvent: (event: LibvirtEvent) => void): () => void;
  readonly state: LibvirtClientState;
  /** Calls back for every change of `state`, with the reason of the end of a connection or of an attempt. */
  onStateChange(callback: (state: LibvirtClientState, why?: Error) => void): () => void;
  /**
   * Resolves when connected.
   * @throws InfraError the reason of the latest attempt, if one has failed since there was a connection; CALLER_LEFT
   */
  ready(signal?: AbortSignal): Promise<void>;
  /** Ends the connection and whatever waits for it, for good. */
  close(): Promise<void>;
}

export interface LibvirtClientOptions {
  readonly socketPath: string;
  /** What the daemon is to open, e.g. `qemu:///system`. */
  readonly uri: string;
  /** How often a silent daemon is asked whether it is there; after five such times it is not. 5,000 unless told. */
  readonly keepAliveMs?: number;
  /** libvirt's own limit of 32 MiB unless told. */
  readonly maxMessageBytes?: number;
  /** How long to wait after the first attempt that failed; doubles up to fifty times that. 200 unless told. */
  readonly reconnectMs?: number;
}

/** Connects, and stays connected until `close`. */
export function createLibvirtClient(_options: LibvirtClientOptions): LibvirtClient {
  throw new InfraError("NOT_BUILT", "the client of libvirt is not built yet");
}
