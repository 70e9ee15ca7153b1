import { InfraError } from "../../adapters/host/infra-error.ts";

/**
 * The one message of a call that has no more.
 * @throws InfraError REQUEST_CARDINALITY when there is none or more than one; whatever the reading throws
 */
export async function singleOf(messages: AsyncIterable<unknown>): Promise<unknown> {
  const reader = messages[Symbol.asyncIterator]();
  const first = await reader.next();
  if (first.done === true) {
    throw new InfraError("REQUEST_CARDINALITY", "the request has no message");
  }
  const second = await reader.next();
  if (second.done !== true) {
    throw new InfraError("REQUEST_CARDINALITY", "the request has more than one message");
  }
  return first.value;
}
