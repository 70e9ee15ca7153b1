import { errors } from "jose";
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../../rpc/reasons.ts";
import { authReasons } from "../reasons.ts";
import { isUnknownKey } from "./discover-provider.ts";
import { refusedLogin } from "./refused-login.ts";

/** Errors by which a provider says that this user may not log in, or no longer. */
const refusals: ReadonlySet<string> = new Set([
  "access_denied",
  "consent_required",
  "expired_token",
  "interaction_required",
  "invalid_grant",
  "login_required",
]);

/** The library's codes for requests whose answer is missing or incomplete. */
const unanswered: ReadonlySet<string | undefined> = new Set([
  undefined,
  "OAUTH_ABORT",
  "OAUTH_PARSE_ERROR",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_TIMEOUT",
]);

/**
 * Converts an error of a provider's connection. The provider's own words only go to the log.
 * @returns LOGIN_PENDING, LOGIN_REFUSED, or PROVIDER_UNAVAILABLE if the provider did not answer or refuses the gateway itself
 */
export function errorFromProvider(error: unknown, provider: string): InfraError {
  if (error instanceof InfraError) {
    return error;
  }
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    const code = /^[a-z_]{1,64}$/.test(error.error) ? error.error : "an unknown error";
    if (code === "authorization_pending" || code === "slow_down") {
      return new InfraError(
        rpcReasons.LOGIN_PENDING,
        "the login is not confirmed yet; repeat the call later",
        {
          // RFC 8628, 3.5: five seconds more after slow_down.
          retryAfterMs: code === "slow_down" ? 10_000 : 5_000,
        },
      );
    }
    return refusals.has(code)
      ? refusedLogin(`it answers ${code}`, error)
      : unavailable(provider, `it answers ${code}`, error);
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return refusedLogin("it does not accept its own access token", error);
  }
  const isInvalid =
    (error instanceof ClientError && !unanswered.has(error.code)) ||
    (error instanceof errors.JOSEError &&
      // New keys may not have been published yet, or just now.
      !(error instanceof errors.JWKSTimeout || isUnknownKey(error)));
  return isInvalid
    ? refusedLogin("its answer is not for this login, or not signed by it", error)
    : unavailable(provider, "it does not answer, or answers incorrectly", error);
}

function unavailable(provider: string, why: string, cause: unknown): InfraError {
  return new InfraError(
    authReasons.PROVIDER_UNAVAILABLE,
    `the identity provider ${provider} cannot be used: ${why}`,
    { cause, retryAfterMs: 5_000 },
  );
}
