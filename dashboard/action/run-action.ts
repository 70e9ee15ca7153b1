import type { CallOptions } from "@connectrpc/connect";
import { client } from "../session.ts";
import type { Action } from "./action.ts";

type Called = (request: object, options: CallOptions) => Promise<object> | AsyncIterable<object>;

/** The response header that names the operation which a call has begun. */
const operationHeader = "hostplane-operation";

/**
 * Makes the change.
 * @param onOperation called with the id of the operation that the call has begun, as soon as it is known
 * @returns the answer, of a stream its last message; undefined for a stream without one
 * @throws ConnectError as the call does
 */
export async function runAction(
  { method, request }: Action,
  onOperation: (id: string) => void,
): Promise<object | undefined> {
  const calls = client.serviceClient(method.parent) as unknown as Readonly<Record<string, Called>>;
  const options: CallOptions = {
    onHeader: (headers) => {
      const id = headers.get(operationHeader);
      if (id !== null) {
        onOperation(id);
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
