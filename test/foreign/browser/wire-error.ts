import type { CallFailure } from "./browser-client.ts";

/** An error in Connect's JSON format. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly debug?: { readonly reason?: string } }[];
}

/** Creates an Error with the gateway's error as its cause. */
export function callError(error: WireError): Error {
  return new Error(error.message, { cause: error });
}

/** Returns the failure in an Error of `callError`; of other errors only the message. */
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
