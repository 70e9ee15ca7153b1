import { InfraError } from "../../adapters/host/infra-error.ts";
import { infraErrorFrom } from "./errors.ts";

/**
 * The same messages, and a call when the last one is out: with nothing when the stream has come to its end, with
 * what it was ended by, or with CALLER_LEFT when nobody reads it any more.
 */
export async function* watchedStream(
  messages: AsyncIterable<object>,
  onEnd: (error: InfraError | undefined) => void | Promise<void>,
): AsyncGenerator<object, void> {
  let error: InfraError | undefined = new InfraError("CALLER_LEFT", "the caller left");
  try {
    yield* messages;
    error = undefined;
  } catch (thrown) {
    error = infraErrorFrom(thrown);
    throw thrown;
  } finally {
    await onEnd(error);
  }
}
