import { InfraError } from "../../host/infra-error.ts";
import { createLimiter } from "../../host/limiter.ts";
import type { Connection } from "./connection.ts";
import { eventFromMessage, type LibvirtEvent, registerEvents } from "./events.ts";
import { withPatience } from "./give-up.ts";
import { maxPacketBytes, type Packet } from "./packet.ts";
import type { Procedure } from "./procedure.ts";
import { type ArgsOf, type ProcedureName, procedures, type ResultOf } from "./procedures.ts";
import { libvirtRpcReasons } from "./reasons.ts";
import { keepConnected } from "./reconnect.ts";
import { openSession } from "./session.ts";
import { download, upload } from "./stream.ts";

export type LibvirtClientState = "connecting" | "connected" | "closed";

/** Procedures without a stream; those with one are called by `download` and `upload`. */
export type CallableName = Exclude<ProcedureName, "storageVolDownload" | "storageVolUpload">;

export interface CallOptions {
  /** Cancels the wait. Work that libvirt has begun continues. */
  readonly signal?: AbortSignal;
  /** Timeout of the reply: by default a minute, or none for procedures that may take long. */
  readonly timeoutMs?: number;
}

/**
 * A client of one libvirt daemon that reconnects automatically. A refusal by libvirt is an InfraError according to
 * `errors.ts`; a missing connection, or its loss during a call, is LIBVIRT_UNAVAILABLE.
 */
export interface LibvirtClient {
  /**
   * Calls a procedure. Long-running procedures use separate connections, eight at a time, so they do not delay other
   * calls.
   * @throws InfraError LIBVIRT_UNAVAILABLE, the reasons of errors.ts, INVALID_FIELD for arguments that cannot be
   * encoded
   */
  call<Name extends CallableName>(
    name: Name,
    args: ArgsOf<Name>,
    options?: CallOptions,
  ): Promise<ResultOf<Name>>;
  /**
   * Reads the content of a volume, in pieces of up to 256 KiB, at the reader's pace. Leaving the loop ends the
   * transfer.
   */
  download(args: ArgsOf<"storageVolDownload">, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Writes a volume at libvirt's pace. Resolves when libvirt has written all of it. */
  upload(
    args: ArgsOf<"storageVolUpload">,
    source: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Calls back for every event; the callback must not throw. Returns a function that unsubscribes. */
  subscribe(onEvent: (event: LibvirtEvent) => void): () => void;
  readonly state: LibvirtClientState;
  /** Calls back for every change of `state`, with the reason why a connection or an attempt ended. */
  onStateChange(callback: (state: LibvirtClientState, why?: InfraError) => void): () => void;
  /**
   * Resolves when connected.
   * @throws InfraError the reason of the failure as soon as the first attempt has failed; CALLER_LEFT
   */
  ready(signal?: AbortSignal): Promise<void>;
  /** Ends the connection and all pending calls for good. */
  close(): Promise<void>;
}

export interface LibvirtClientOptions {
  readonly socketPath: string;
  /** The libvirt URI that the daemon opens, e.g. `qemu:///system`. */
  readonly uri: string;
  /**
   * Keepalive interval for a silent daemon; after five unanswered ones the connection is considered lost. 5,000 by
   * default.
   */
  readonly keepAliveMs?: number;
  /** libvirt's own limit of 32 MiB by default. */
  readonly maxMessageBytes?: number;
  /** Delay after the first failed attempt; doubles up to fifty times that. 200 by default. */
  readonly reconnectMs?: number;
}

const defaults = { keepAliveMs: 5_000, maxMessageBytes: maxPacketBytes, reconnectMs: 200 } as const;
const callTimeoutMs = 60_000;
/** libvirtd has 20 workers by default, for all of its clients. */
const slowCalls = { maxRunning: 8, maxWaiting: 1_000 } as const;
/** VIR_DRV_FEATURE_PROGRAM_KEEPALIVE: the daemon sends keepalives to a client that has asked for this feature. */
const keepAliveFeature = 10;

/** Creates a client that connects, and stays connected until `close`. */
export function createLibvirtClient(options: LibvirtClientOptions): LibvirtClient {
  const { reconnectMs, ...session } = { ...defaults, ...options };
  const subscribers = new Set<(event: LibvirtEvent) => void>();
  const slowTurns = createLimiter({ what: "long libvirt calls", ...slowCalls });
  /** Connections in addition to the first: for slow calls and transfers. */
  const others = new Set<Connection>();
  const link = keepConnected({ open, onAgain: () => emit({ kind: "reconnected" }), reconnectMs });
  link.onStateChange((_state, why) => {
    if (why !== undefined) {
      for (const each of others) {
        each.end(why);
      }
    }
  });

  function emit(event: LibvirtEvent): void {
    for (const subscriber of [...subscribers]) {
      subscriber(event);
    }
  }

  function onMessage(packet: Packet): void {
    const event = eventFromMessage(packet);
    if (event !== undefined) {
      emit(event);
    }
  }

  async function open(signal: AbortSignal): Promise<Connection> {
    const connection = await openSession({ ...session, onMessage }, signal);
    try {
      await connection.call(procedures.connectSupportsFeature, { feature: keepAliveFeature }, { signal });
      await registerEvents(connection);
      return connection;
    } catch (error) {
      connection.end(
        new InfraError(libvirtRpcReasons.LIBVIRT_UNAVAILABLE, "libvirt's events could not be requested"),
      );
      throw error;
    }
  }

  /** Opens another connection. Only the first connection detects a silent daemon, and its end ends all of them. */
  async function openOther(signal: AbortSignal | undefined): Promise<Connection> {
    link.current();
    const connection = await openSession({ ...session, keepAliveMs: 0 }, signal);
    others.add(connection);
    void connection.ended.then(() => others.delete(connection));
    return connection;
  }

  async function callSlow<Args, Result>(
    procedure: Procedure<Args, Result>,
    args: Args,
    signal: AbortSignal,
  ): Promise<Result> {
    const connection = await openOther(signal);
    try {
      return await connection.call(procedure, args, { signal });
    } finally {
      connection.end(
        new InfraError(libvirtRpcReasons.LIBVIRT_UNAVAILABLE, "the connection's call has ended"),
      );
    }
  }

  return {
    async call(name, args, { signal, timeoutMs } = {}) {
      const procedure = procedureOf(name);
      const connection = link.current();
      return procedure.isSlow
        ? withPatience((givenUp) => slowTurns.run(() => callSlow(procedure, args, givenUp), givenUp), {
            signal,
            timeoutMs,
          })
        : connection.call(procedure, args, { signal, timeoutMs: timeoutMs ?? callTimeoutMs });
    },
    async *download(args, signal) {
      yield* download(await openOther(signal), args, signal);
    },
    async upload(args, source, signal) {
      await upload(await openOther(signal), args, source, signal);
    },
    subscribe(onEvent) {
      const entry = (event: LibvirtEvent) => onEvent(event);
      subscribers.add(entry);
      return () => void subscribers.delete(entry);
    },
    get state() {
      return link.state;
    },
    onStateChange: link.onStateChange,
    ready: link.ready,
    close: link.close,
  };
}

/** Returns the procedure of this name, with the types that ArgsOf and ResultOf derive. */
function procedureOf<Name extends ProcedureName>(name: Name): Procedure<ArgsOf<Name>, ResultOf<Name>> {
  return procedures[name] as unknown as Procedure<ArgsOf<Name>, ResultOf<Name>>;
}
