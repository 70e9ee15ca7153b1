import { Code, ConnectError } from "@connectrpc/connect";
import { describeError } from "./describe-error.ts";

/**
 * Whether the gateway has refused who calls, so that the same call may do with another login. A wrong name or password in the
 * request itself, of Login or ChangePassword, says nothing of that: sent again it would be one more failed attempt.
 */
export function isLoginRefused(error: unknown): boolean {
  return (
    ConnectError.from(error).code === Code.Unauthenticated &&
    describeError(error).reason !== "INVALID_CREDENTIALS"
  );
}
