import type { CallOptions } from "@connectrpc/connect";
import { operationIdsOf } from "../../client/with-operation.ts";
import { client } from "../session.ts";
import type { Action } from "./action.ts";

type Called = (request: object, options: CallOptions) => Promise<object> | AsyncIterable<object>;

/**
 * Makes the change.
 * @param onOperations called with the ids of the operations that the call has begun, as soon as they are known
 * @returns the answer, of a stream its last message; undefined for a stream without one
 * @throws ConnectError as the call does
 */
export async function runAction(
  { method, request }: Action,
  onOperations: (ids: readonly string[]) => void,
): Promise<object | undefined> {
  const calls = client.serviceClient(method.parent) as unknown as Readonly<Record<string, Called>>;
  const options: CallOptions = {
    onHeader: (headers) => {
      const ids = operationIdsOf(headers);
      if (ids.length > 0) {
        onOperations(ids);
      }
    },
  };
  const answer = calls[method.localName]?.(request, options);
  if (answer === undefined || !(Symbol.asyncIterator in answer)) {
    return answer;
  }
  let last: object | undefined;
  for await (const message of answer) {
    last = message;
  }
  return last;
}
