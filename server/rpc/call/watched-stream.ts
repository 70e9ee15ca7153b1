import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { callerLeft } from "./caller-left.ts";

/**
 * Wraps the messages, and calls back after the last one: with undefined if the stream completed, with the error that ended it, or
 * with CALLER_LEFT if the reader has left. Not a generator, which would wait several times for each message.
 * @param onEnd called once; the reader's end waits for it
 */
export function watchedStream(
  messages: AsyncIterable<object>,
  onEnd: (error: InfraError | undefined) => Promise<void>,
): AsyncIterableIterator<object, void> {
  const source = messages[Symbol.asyncIterator]();
  let ending: Promise<void> | undefined;
  const end = (error: InfraError | undefined) => {
    ending ??= onEnd(error);
    return ending;
  };
  const arrived = (
    result: IteratorResult<object, void>,
  ): IteratorResult<object, void> | Promise<IteratorResult<object, void>> =>
    result.done === true ? end(undefined).then(() => result) : result;
  const failed = async (thrown: unknown): Promise<never> => {
    await end(infraErrorFrom(thrown));
    throw thrown;
  };
  const watched: AsyncIterableIterator<object, void> = {
    next: () => source.next().then(arrived, failed),
    async return() {
      try {
        await source.return?.();
      } finally {
        await end(callerLeft);
      }
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => watched,
  };
  return watched;
}
