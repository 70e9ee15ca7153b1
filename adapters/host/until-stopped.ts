import { setImmediate as nextTurn } from "node:timers/promises";
import { errorFromSignal } from "./process/tool-errors.ts";

/**
 * Yields from a source until the signal aborts, even if the source is blocked in its own read. For sandboxes that stand
 * in for a program.
 * @throws InfraError from the source, or from `errorFromSignal`
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
      // Waits one turn of the event loop, to imitate a program's pace.
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
