import { setImmediate as nextTurn } from "node:timers/promises";
import { errorFromSignal } from "./tool-errors.ts";

/**
 * What a source has until the signal, also when it is stuck in its own reading then; for what stands in for a program.
 * @throws InfraError as the source does; what `errorFromSignal` makes of the signal
 */
export async function* untilStopped(
  content: AsyncIterable<Uint8Array>,
  stop: AbortSignal,
  program: string,
): AsyncGenerator<Uint8Array, void> {
  const iterator = content[Symbol.asyncIterator]();
  let hasMore = true;
  try {
    for (;;) {
      // A turn of the event loop, as a program's pace would be.
      await nextTurn();
      const next = await orStopped(iterator.next(), stop, program);
      if (next.done) {
        hasMore = false;
        return;
      }
      yield next.value;
    }
  } finally {
    if (hasMore) {
      Promise.resolve(iterator.return?.()).catch(() => {});
    }
  }
}

async function orStopped<T>(work: Promise<T>, stop: AbortSignal, program: string): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const onAbort = () => stopped.reject(errorFromSignal(stop, program));
  stop.addEventListener("abort", onAbort, { once: true });
  if (stop.aborted) {
    onAbort();
  }
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    stop.removeEventListener("abort", onAbort);
  }
}
