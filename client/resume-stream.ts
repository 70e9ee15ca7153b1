import { Code, ConnectError } from "@connectrpc/connect";
import { describeError } from "./describe-error.ts";
import { isLoginRefused } from "./is-login-refused.ts";
import { watchWakes } from "./wake.ts";

/**
 * State of a stream's connection, reported on change. `error` is what ended the connection, `retryAtMs` the time of the next try
 * (as in `Date.now()`).
 */
export type ConnectionState =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly error: unknown; readonly retryAtMs: number };

export interface StreamOptions {
  /** Ends the stream; iteration over it ends as well. */
  readonly signal?: AbortSignal | undefined;
  /** Called with "connecting" at first and when a suspect connection is replaced, and with "live" after the first message. */
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  /**
   * Silence after which a connection is considered dead and replaced, in milliseconds; `Infinity` for a stream that may be
   * silent. Default: 40 seconds for events, a minute for any other stream.
   */
  readonly maxSilenceMs?: number | undefined;
}

export interface ResumeOptions extends StreamOptions {
  /** Called with an error that would end the stream. Returns whether `open` can continue after it, without a pause. */
  readonly recover?: (error: unknown) => boolean;
}

const defaultMaxSilenceMs = 60_000;

/** Node and browsers fire a longer timer at once. */
const longestTimerMs = 2 ** 31 - 1;

const shortestPauseMs = 250;
const longestPauseMs = 10_000;

/** A connection that lasts longer resets the count of failures. */
const steadyMs = 5_000;

/** Permanent codes, unless the gateway says otherwise: a retry fails until someone changes something. */
const permanentCodes: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.OutOfRange,
  Code.Unimplemented,
  Code.Unauthenticated,
  Code.DataLoss,
]);

/**
 * Yields the messages of a stream and reopens it whenever it breaks: after 0.25 to 10 seconds, longer each time, or as soon as a
 * page wakes. Ends when the stream ends without an error or the signal is aborted.
 * @param open opens the stream, where the last one ended if possible; the signal stops it
 * @throws ConnectError that a retry cannot fix, such as PERMISSION_DENIED or DOMAIN_OFF
 */
export async function* resumeStream<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  options: ResumeOptions = {},
): AsyncGenerator<T, void> {
  const { signal, onState, recover } = options;
  let reported: ConnectionState["state"] | undefined;
  const report = (state: ConnectionState) => {
    if (state.state !== reported) {
      reported = state.state;
      onState?.(state);
    }
  };
  let failures = 0;
  let hasRenewedLogin = false;
  const isStopped = () => signal?.aborted === true;
  while (!isStopped()) {
    report({ state: "connecting" });
    let liveSinceMs: number | undefined;
    try {
      for await (const message of connect(open, options)) {
        if (liveSinceMs === undefined) {
          liveSinceMs = Date.now();
          hasRenewedLogin = false;
          report({ state: "live" });
        }
        yield message;
      }
      return;
    } catch (error) {
      if (isStopped()) {
        return;
      }
      failures = liveSinceMs !== undefined && Date.now() - liveSinceMs > steadyMs ? 0 : failures + 1;
      // The next connection shows whether the gateway is lost.
      const isSuspected = liveSinceMs !== undefined && isSuspicion(error);
      // Once only: the call gets another token if there is one.
      const isRenewed: boolean = !hasRenewedLogin && isLoginRefused(error);
      hasRenewedLogin ||= isRenewed;
      if (isSuspected || isRenewed || recover?.(error) === true) {
        continue;
      }
      if (isPermanent(error)) {
        throw error;
      }
      const pauseMs = Math.max(describeError(error).retryAfterMs ?? 0, jitteredPauseMs(failures));
      report({ state: "lost", error, retryAtMs: Date.now() + pauseMs });
      await pause(pauseMs, signal);
    }
  }
}

/** Opens one connection. It is aborted when it is silent for too long or the network was gone. */
async function* connect<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { signal, maxSilenceMs = defaultMaxSilenceMs }: ResumeOptions,
): AsyncGenerator<T, void> {
  const controller = new AbortController();
  const suspect = (why: string) =>
    controller.abort(new ConnectError(why, Code.Unavailable, undefined, undefined, suspicion));
  const stopWatching = watchWakes((hadNoNetwork) => {
    if (hadNoNetwork) {
      suspect("the network was lost");
    }
  });
  const both = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  try {
    const messages = open(both)[Symbol.asyncIterator]();
    for (;;) {
      // Only while waiting for a message: a consumer that is slow with the last message does not mean a lost connection.
      const timer =
        maxSilenceMs > longestTimerMs
          ? undefined
          : setTimeout(() => suspect(`no message for ${maxSilenceMs} ms`), maxSilenceMs);
      const { done, value } = await messages.next().finally(() => clearTimeout(timer));
      if (done === true) {
        return;
      }
      yield value;
    }
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    stopWatching();
    controller.abort();
  }
}

/** Cause of the errors of a connection that was aborted here, though it may be alive. */
const suspicion = Symbol("suspicion");

function isSuspicion(error: unknown): boolean {
  return error instanceof ConnectError && error.cause === suspicion;
}

function isPermanent(error: unknown): boolean {
  // The caller's own function threw it, and would throw it again.
  if (!(error instanceof ConnectError)) {
    return true;
  }
  const { reason, retryable } = describeError(error);
  // UNAVAILABLE with a reason of the gateway, such as DOMAIN_OFF or TOOL_MISSING, is permanent unless it is marked as retryable.
  const isForGood = permanentCodes.has(error.code) || (error.code === Code.Unavailable && reason !== "");
  return isForGood && !retryable;
}

/**
 * Returns between half and all of 0.5 s, 1 s, 2 s ... 10 s, so that clients that lost the same gateway do not return all at once.
 */
function jitteredPauseMs(failures: number): number {
  const longestMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures, 10));
  return Math.max(shortestPauseMs, longestMs * (0.5 + Math.random() / 2));
}

/** Waits for `pauseMs`, or until the page wakes or the signal is aborted. */
function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stopWatching();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, pauseMs);
    const stopWatching = watchWakes(end);
    signal?.addEventListener("abort", end);
  });
}
