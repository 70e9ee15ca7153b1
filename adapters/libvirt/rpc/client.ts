import { InfraError } from "../../host/infra-error.ts";
import { createLimiter } from "../../host/limiter.ts";
import type { Connection } from "./connection.ts";
import { eventFromMessage, type LibvirtEvent, registerEvents } from "./events.ts";
import { withPatience } from "./give-up.ts";
import { maxPacketBytes, type Packet } from "./packet.ts";
import type { Procedure } from "./procedure.ts";
import { type ArgsOf, type ProcedureName, procedures, type ResultOf } from "./procedures.ts";
import { keepConnected } from "./reconnect.ts";
import { openSession } from "./session.ts";
import { download, upload } from "./stream.ts";

export type LibvirtClientState = "connecting" | "connected" | "closed";

/** What has a stream is called by `download` and `upload`. */
export type CallableName = Exclude<ProcedureName, "storageVolDownload" | "storageVolUpload">;

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
   * Those that may take long go by connections of their own, eight at a time; so they keep no others waiting.
   * @throws InfraError LIBVIRT_UNAVAILABLE, the reasons of errors.ts, INVALID_FIELD for arguments that do not fit the wire
   */
  call<Name extends CallableName>(
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
  onStateChange(callback: (state: LibvirtClientState, why?: InfraError) => void): () => void;
  /**
   * Resolves when connected.
   * @throws InfraError the reason why it is not, as soon as that is known: when the first attempt has failed; CALLER_LEFT
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

const defaults = { keepAliveMs: 5_000, maxMessageBytes: maxPacketBytes, reconnectMs: 200 } as const;
const callTimeoutMs = 60_000;
/** libvirtd has 20 workers by default, for all of its clients. */
const slowCalls = { maxRunning: 8, maxWaiting: 1_000 } as const;
/** VIR_DRV_FEATURE_PROGRAM_KEEPALIVE: whoever asks for it is himself asked from then on whether he is there. */
const keepAliveFeature = 10;

/** Connects, and stays connected until `close`. */
export function createLibvirtClient(options: LibvirtClientOptions): LibvirtClient {
  const { reconnectMs, ...session } = { ...defaults, ...options };
  const subscribers = new Set<(event: LibvirtEvent) => void>();
  const slowTurns = createLimiter({ what: "long calls of libvirt", ...slowCalls });
  /** Connections beside the first: of slow calls and of transfers. */
  const others = new Set<Connection>();
  const link = keepConnected({ open, onAgain: () => tell({ kind: "reconnected" }), reconnectMs });
  link.onStateChange((_state, why) => {
    if (why !== undefined) {
      for (const each of others) {
        each.end(why);
      }
    }
  });

  function tell(event: LibvirtEvent): void {
    for (const subscriber of [...subscribers]) {
      subscriber(event);
    }
  }

  function onMessage(packet: Packet): void {
    const event = eventFromMessage(packet);
    if (event !== undefined) {
      tell(event);
    }
  }

  async function open(signal: AbortSignal): Promise<Connection> {
    const connection = await openSession({ ...session, onMessage }, signal);
    try {
      await connection.call(procedures.connectSupportsFeature, { feature: keepAliveFeature }, { signal });
      await registerEvents(connection);
      return connection;
    } catch (error) {
      connection.end(new InfraError("LIBVIRT_UNAVAILABLE", "libvirt could not be asked for its events"));
      throw error;
    }
  }

  /** That the daemon is silent is noticed on the first connection, whose end is that of all. */
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
      connection.end(new InfraError("LIBVIRT_UNAVAILABLE", "the call that the connection was for is over"));
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

/** The row of a name, with the types that ArgsOf and ResultOf read off it. */
function procedureOf<Name extends ProcedureName>(name: Name): Procedure<ArgsOf<Name>, ResultOf<Name>> {
  return procedures[name] as unknown as Procedure<ArgsOf<Name>, ResultOf<Name>>;
}
