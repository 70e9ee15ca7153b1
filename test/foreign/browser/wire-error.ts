import type { CallFailure } from "./browser-client.ts";

/** An error as Connect writes it in JSON. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly debug?: { readonly reason?: string } }[];
}

/** An Error that keeps what the gateway reported as its cause. */
export function callError(error: WireError): Error {
  return new Error(error.message, { cause: error });
}

/** What an Error of `callError` reports; of any other its message alone. */
export function failureFromError(thrown: unknown): CallFailure {
  const {
    code,
    message,
    details = [],
  } = ((thrown as Error).cause as WireError | undefined) ?? {
    code: "",
    message: String(thrown),
  };
  return { code, message, reasons: details.flatMap(({ debug }) => debug?.reason ?? []) };
}
