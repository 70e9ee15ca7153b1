import { Code, ConnectError } from "@connectrpc/connect";
import { describeError } from "./describe-error.ts";
import { watchWakes } from "./wake.ts";

/** How a stream is connected. `error` is what has ended the connection, `retryAtMs` (as of `Date.now()`) when the next is tried. */
export type ConnectionState =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly error: unknown; readonly retryAtMs: number };

export interface StreamOptions {
  /** Ends the stream: what iterates over it is at its end. */
  readonly signal?: AbortSignal | undefined;
  /** Told of every change. It is "live" from the first message on. */
  readonly onState?: ((state: ConnectionState) => void) | undefined;
}

export interface ResumeOptions extends StreamOptions {
  /** A connection that carries nothing for so long is taken for dead. Default: never. */
  readonly maxSilenceMs?: number;
  /** Asked about an error that would end the stream: whether `open` goes on behind it, without a pause. */
  readonly recover?: (error: unknown) => boolean;
}

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
  let failures = 0;
  let isLoginRefused = false;
  const isStopped = () => signal?.aborted === true;
  while (!isStopped()) {
    onState?.({ state: "connecting" });
    let liveSinceMs: number | undefined;
    try {
      for await (const message of connect(open, options)) {
        if (liveSinceMs === undefined) {
          liveSinceMs = Date.now();
          isLoginRefused = false;
          onState?.({ state: "live" });
        }
        yield message;
      }
      return;
    } catch (error) {
      if (isStopped()) {
        return;
      }
      failures = liveSinceMs !== undefined && Date.now() - liveSinceMs > steadyMs ? 0 : failures + 1;
      const isRefusal = ConnectError.from(error).code === Code.Unauthenticated;
      // Once: the call gets another token if there is one to be had.
      if ((isRefusal && !isLoginRefused) || recover?.(error) === true) {
        isLoginRefused = isRefusal;
        continue;
      }
      if (isPermanent(error)) {
        throw error;
      }
      const pauseMs = Math.max(describeError(error).retryAfterMs ?? 0, jitteredPauseMs(failures));
      onState?.({ state: "lost", error, retryAtMs: Date.now() + pauseMs });
      await pause(pauseMs, signal);
    }
  }
}

/** One connection, which ends with an error when it is silent for too long or the network was gone. */
async function* connect<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { signal, maxSilenceMs }: ResumeOptions,
): AsyncGenerator<T, void> {
  const controller = new AbortController();
  const lose = (why: string) => controller.abort(new ConnectError(why, Code.Unavailable));
  const stopWatching = watchWakes((hadNoNetwork) => {
    if (hadNoNetwork) {
      lose("the network was gone");
    }
  });
  const both = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  const messages = open(both)[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Only while a message is awaited: one who takes long over the last message has not lost the connection.
      const timer =
        maxSilenceMs === undefined
          ? undefined
          : setTimeout(() => lose(`nothing came for ${maxSilenceMs} ms`), maxSilenceMs);
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

function isPermanent(error: unknown): boolean {
  const { reason, retryable } = describeError(error);
  // UNAVAILABLE is for good where the gateway says so: DOMAIN_OFF, TOOL_MISSING.
  const isForGood = ConnectError.from(error).code === Code.Unavailable && reason !== "";
  return !retryable && (isForGood || permanentCodes.has(ConnectError.from(error).code));
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
