import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../reasons.ts";

/**
 * Returns the only message of a call.
 * @throws InfraError REQUEST_CARDINALITY if there is none or more than one, and any error of reading
 */
export async function singleOf(messages: AsyncIterable<unknown>): Promise<unknown> {
  const reader = messages[Symbol.asyncIterator]();
  const first = await reader.next();
  if (first.done === true) {
    throw new InfraError(rpcReasons.REQUEST_CARDINALITY, "the request has no message");
  }
  const second = await reader.next();
  if (second.done !== true) {
    throw new InfraError(rpcReasons.REQUEST_CARDINALITY, "the request has more than one message");
  }
  return first.value;
}
