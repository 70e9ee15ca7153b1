import { setTimeout as delay } from "node:timers/promises";
import { backOffMs } from "../../host/back-off.ts";
import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { Connection } from "./connection.ts";
import { withPatience } from "./give-up.ts";
import { libvirtRpcReasons } from "./reasons.ts";

export type LinkState = "connecting" | "connected" | "closed";

export type StateListener = (state: LinkState, why?: InfraError) => void;

export interface LinkOptions {
  /** Opens a connection that is ready for use. */
  readonly open: (signal: AbortSignal) => Promise<Connection>;
  /** Called when a connection is established by any attempt but the first. */
  readonly onAgain: () => void;
  /** Maximum delay after the first failed attempt; doubles with each failure, up to fifty times that. */
  readonly reconnectMs: number;
}

/** A connection that is replaced whenever it is lost. */
export interface Link {
  readonly state: LinkState;
  /**
   * Returns the connection. @throws InfraError LIBVIRT_UNAVAILABLE (or LIBVIRT_DENIED) with the reason why there is
   * none
   */
  current(): Connection;
  onStateChange(listener: StateListener): () => void;
  /**
   * Resolves when there is a connection.
   * @throws as `current`, as soon as the reason is known
   */
  ready(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const maxDelayFactor = 50;

/** Connects at once, and again whenever the connection is lost, after a random delay that grows with each failure. */
export function keepConnected({ open, onAgain, reconnectMs }: LinkOptions): Link {
  const closing = new AbortController();
  const listeners = new Set<StateListener>();
  let connection: Connection | undefined;
  let state: LinkState = "connecting";
  let failure: InfraError | undefined;

  function become(next: LinkState, why?: InfraError): void {
    state = next;
    failure = why;
    for (const listener of [...listeners]) {
      listener(next, why);
    }
  }

  function onStateChange(listener: StateListener): () => void {
    const entry: StateListener = (next, why) => listener(next, why);
    listeners.add(entry);
    return () => void listeners.delete(entry);
  }

  /** Runs one connection from start to end; returns why it ended. */
  async function live(isFirst: boolean): Promise<InfraError> {
    try {
      connection = await open(closing.signal);
      if (closing.signal.aborted) {
        // `close` was called while the last step of opening was awaited, and had nothing to end.
        connection.end(closing.signal.reason);
        return await connection.ended;
      }
      become("connected");
      if (!isFirst) {
        onAgain();
      }
      return await connection.ended;
    } catch (error) {
      return error instanceof InfraError
        ? error
        : new InfraError(hostReasons.INTERNAL, String(error), { cause: error });
    } finally {
      connection = undefined;
    }
  }

  async function run(): Promise<void> {
    let failures = 0;
    for (let isFirst = true; !closing.signal.aborted; isFirst = false) {
      const beganAtMs = performance.now();
      const why = await live(isFirst);
      if (!closing.signal.aborted) {
        become("connecting", unavailable(why));
        // A connection that ends soon after it was established counts as a failure.
        const hasLasted = performance.now() - beganAtMs > maxDelayFactor * reconnectMs;
        failures = hasLasted ? 1 : failures + 1;
        const pauseMs = backOffMs(failures, {
          firstMs: reconnectMs,
          longestMs: maxDelayFactor * reconnectMs,
        });
        await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  const running = run();
  return {
    get state() {
      return state;
    },
    current() {
      if (connection === undefined) {
        throw (
          failure ??
          new InfraError(libvirtRpcReasons.LIBVIRT_UNAVAILABLE, "There is no connection to libvirt yet")
        );
      }
      return connection;
    },
    onStateChange,
    ready: (signal) => withPatience((givenUp) => untilKnown(givenUp), { signal }),
    async close() {
      const closed = new InfraError(libvirtRpcReasons.LIBVIRT_UNAVAILABLE, "The libvirt client is closed");
      closing.abort(closed);
      connection?.end(closed);
      if (state !== "closed") {
        become("closed", closed);
      }
      await running;
    },
  };

  function untilKnown(givenUp: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => (connection === undefined ? reject(failure) : resolve());
      if (connection !== undefined || failure !== undefined) {
        settle();
        return;
      }
      const stop = onStateChange(() => {
        stop();
        settle();
      });
      givenUp.addEventListener("abort", stop, { once: true });
    });
  }
}

/**
 * Converts any failure to LIBVIRT_UNAVAILABLE, since callers can only wait for libvirt. A denial is kept, as it will
 * not pass.
 */
function unavailable(why: InfraError): InfraError {
  return why.is(libvirtRpcReasons.LIBVIRT_DENIED, libvirtRpcReasons.LIBVIRT_UNAVAILABLE)
    ? why
    : new InfraError(libvirtRpcReasons.LIBVIRT_UNAVAILABLE, why.message, { cause: why });
}
