import { Code, ConnectError } from "@connectrpc/connect";
import { describeError } from "./describe-error.ts";

/**
 * Reports whether the gateway rejected the caller's credential, so that the same call may succeed after another login. A wrong
 * name or password in the request itself (Login, ChangePassword) does not count: repeating it would be one more failed attempt.
 */
export function isLoginRefused(error: unknown): boolean {
  return (
    ConnectError.from(error).code === Code.Unauthenticated &&
    describeError(error).reason !== "INVALID_CREDENTIALS"
  );
}
