import { Code, ConnectError } from "@connectrpc/connect";
import { describeError } from "./describe-error.ts";
import { isLoginRefused } from "./is-login-refused.ts";
import { watchWakes } from "./wake.ts";

/** How a stream is connected, told when it changes. `error` is what has ended the connection, `retryAtMs` (as of `Date.now()`) when the next is tried. */
export type ConnectionState =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly error: unknown; readonly retryAtMs: number };

export interface StreamOptions {
  /** Ends the stream: what iterates over it is at its end. */
  readonly signal?: AbortSignal | undefined;
  /** It is "connecting" first and while a connection that is not trusted is replaced, and "live" from the first message on. */
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  /**
   * A connection that carries nothing for so long is not trusted any more, and another is opened; `Infinity` for a stream that may
   * be silent. Default: 40 seconds for events, a minute for any other stream.
   */
  readonly maxSilenceMs?: number | undefined;
}

export interface ResumeOptions extends StreamOptions {
  /** Asked about an error that would end the stream: whether `open` goes on behind it, without a pause. */
  readonly recover?: (error: unknown) => boolean;
}

const defaultMaxSilenceMs = 60_000;

/** A timer of more than this fires at once. */
const longestTimerMs = 2 ** 31 - 1;

const shortestPauseMs = 250;
const longestPauseMs = 10_000;

/** A connection that has lasted so long has shown that the trouble before it is over. */
const steadyMs = 5_000;

/** Codes that stay as they are until somebody changes something, unless the gateway says otherwise. */
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
 * The messages of a stream, which is opened again whenever it breaks: after 0.25 to 10 seconds, longer each time, or as soon as
 * a page wakes. Ends when the stream ends well or the signal is aborted.
 * @param open begins the stream, where the last one ended if it can tell; to be stopped by the signal
 * @throws ConnectError that is of no use to be tried again, such as PERMISSION_DENIED or DOMAIN_OFF
 */
export async function* resumeStream<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  options: ResumeOptions = {},
): AsyncGenerator<T, void> {
  const { signal, onState, recover } = options;
  let told: ConnectionState["state"] | undefined;
  const tell = (state: ConnectionState) => {
    if (state.state !== told) {
      told = state.state;
      onState?.(state);
    }
  };
  let failures = 0;
  let hasAskedAgain = false;
  const isStopped = () => signal?.aborted === true;
  while (!isStopped()) {
    tell({ state: "connecting" });
    let liveSinceMs: number | undefined;
    try {
      for await (const message of connect(open, options)) {
        if (liveSinceMs === undefined) {
          liveSinceMs = Date.now();
          hasAskedAgain = false;
          tell({ state: "live" });
        }
        yield message;
      }
      return;
    } catch (error) {
      if (isStopped()) {
        return;
      }
      failures = liveSinceMs !== undefined && Date.now() - liveSinceMs > steadyMs ? 0 : failures + 1;
      // Whether it is lost the next connection tells.
      const isSuspected = liveSinceMs !== undefined && isSuspicion(error);
      // Once: the call gets another token if there is one to be had.
      const isRenewed: boolean = !hasAskedAgain && isLoginRefused(error);
      hasAskedAgain ||= isRenewed;
      if (isSuspected || isRenewed || recover?.(error) === true) {
        continue;
      }
      if (isPermanent(error)) {
        throw error;
      }
      const pauseMs = Math.max(describeError(error).retryAfterMs ?? 0, jitteredPauseMs(failures));
      tell({ state: "lost", error, retryAtMs: Date.now() + pauseMs });
      await pause(pauseMs, signal);
    }
  }
}

/** One connection, which is given up when it is silent for too long or the network was gone. */
async function* connect<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { signal, maxSilenceMs = defaultMaxSilenceMs }: ResumeOptions,
): AsyncGenerator<T, void> {
  const controller = new AbortController();
  const suspect = (why: string) =>
    controller.abort(new ConnectError(why, Code.Unavailable, undefined, undefined, suspicion));
  const stopWatching = watchWakes((hadNoNetwork) => {
    if (hadNoNetwork) {
      suspect("the network was gone");
    }
  });
  const both = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  try {
    const messages = open(both)[Symbol.asyncIterator]();
    for (;;) {
      // Only while a message is awaited: one who takes long over the last message has not lost the connection.
      const timer =
        maxSilenceMs > longestTimerMs
          ? undefined
          : setTimeout(() => suspect(`nothing came for ${maxSilenceMs} ms`), maxSilenceMs);
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

/** The cause of errors of a connection that was given up here, though it may be alive. */
const suspicion = Symbol("suspicion");

function isSuspicion(error: unknown): boolean {
  return error instanceof ConnectError && error.cause === suspicion;
}

function isPermanent(error: unknown): boolean {
  // What a caller's own function has thrown would be thrown again.
  if (!(error instanceof ConnectError)) {
    return true;
  }
  const { reason, retryable } = describeError(error);
  // UNAVAILABLE is for good where the gateway says so: DOMAIN_OFF, TOOL_MISSING.
  const isForGood = permanentCodes.has(error.code) || (error.code === Code.Unavailable && reason !== "");
  return isForGood && !retryable;
}

/** Between half and all of 0.5 s, 1 s, 2 s ... 10 s, so that many who lost one gateway do not come back at one moment. */
function jitteredPauseMs(failures: number): number {
  const longestMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures, 10));
  return Math.max(shortestPauseMs, longestMs * (0.5 + Math.random() / 2));
}

/** Returns after so many milliseconds, at once when the page wakes or the signal is aborted. */
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
