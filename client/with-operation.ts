import type { CallOptions } from "@connectrpc/connect";

/** The answer of a call, with the operation that it has begun, found or changed. */
export interface WithOperation<T> {
  readonly response: T;
  /** For `followOperation`. Absent when the call has none: what it does was done when it answered. */
  readonly operationId: string | undefined;
}

/** The operations that the headers of an answer name; none for most calls. */
export function operationIdsOf(headers: Headers): string[] {
  return headers.get("hostplane-operation")?.split(/, */) ?? [];
}

/**
 * Makes a call and tells which operation it is about, which the gateway says in a header of its answer.
 * @param call makes it, with the options it is given
 */
export async function withOperation<T>(
  call: (options: CallOptions) => Promise<T>,
): Promise<WithOperation<T>> {
  let operationId: string | undefined;
  const onHeader = (headers: Headers) => {
    operationId = operationIdsOf(headers)[0];
  };
  const response = await call({ onHeader });
  return { response, operationId };
}
