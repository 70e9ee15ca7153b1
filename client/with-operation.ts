import type { CallOptions } from "@connectrpc/connect";

/** The response of a call, with the operation that it started, found or changed. */
export interface WithOperation<T> {
  readonly response: T;
  /** For `followOperation`. Absent when the call has no operation: its work was done when the response came. */
  readonly operationId: string | undefined;
}

/** Returns the ids of operations in the response headers; none for most calls. */
export function operationIdsOf(headers: Headers): string[] {
  return headers.get("hostplane-operation")?.split(/, */) ?? [];
}

/**
 * Makes a call and returns its operation, which the gateway names in a response header.
 * @param call makes the call with the options it is given
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
