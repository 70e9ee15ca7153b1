import type { CallOptions } from "@connectrpc/connect";
import { describeError } from "../../client/describe-error.ts";
import { operationIdsOf } from "../../client/with-operation.ts";
import { untilLive } from "../live/until-live.ts";
import { client } from "../session.ts";
import type { Action } from "./action.ts";
import { takesIdempotencyKey } from "./takes-idempotency-key.ts";

type Called = (request: object, options: CallOptions) => Promise<object> | AsyncIterable<object>;

/**
 * Makes the change exactly once, even if the connection breaks. A call without a response is repeated with the same idempotency
 * key when the gateway is back; for a stream, the operation that continues without it is known.
 * @param onOperations called with the ids of the operations that the call has started, as soon as they are known
 * @returns the response, for a stream its last message; undefined for a stream that had none or that broke
 * @throws ConnectError of the call
 */
export async function runAction(
  { method, request, isFollowed }: Action,
  onOperations: (ids: readonly string[]) => void,
): Promise<object | undefined> {
  const calls = client.serviceClient(method.parent) as unknown as Readonly<Record<string, Called>>;
  const hasKey = takesIdempotencyKey(method);
  let hasStarted = false;
  const options: CallOptions = {
    headers: hasKey ? { "idempotency-key": randomKey() } : {},
    onHeader: (headers) => {
      const ids = operationIdsOf(headers);
      if (ids.length > 0) {
        hasStarted = true;
        onOperations(ids);
      }
    },
  };
  const call = () => lastOf(calls[method.localName]?.(request, options));
  try {
    return await call();
  } catch (error) {
    const { code, retryable } = describeError(error);
    if (method.methodKind !== "unary" && hasStarted && isFollowed && retryable) {
      return undefined;
    }
    if (!hasKey || code !== "UNAVAILABLE" || !retryable) {
      throw error;
    }
    await untilLive();
    return call();
  }
}

async function lastOf(answer: ReturnType<Called> | undefined): Promise<object | undefined> {
  if (answer === undefined || !(Symbol.asyncIterator in answer)) {
    return answer;
  }
  let last: object | undefined;
  for await (const message of answer) {
    last = message;
  }
  return last;
}

/** Pages loaded over plain HTTP have no `crypto.randomUUID`. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
