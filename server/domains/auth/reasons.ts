import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of logins, users and API tokens. */
export const authReasons = defineReasons({
  INVALID_CREDENTIALS: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The user name or password is wrong; the error does not say which.",
  },
  TOKEN_INVALID: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning:
      "The token was not issued by this gateway, is for another audience, or its account no longer exists.",
  },
  TOKEN_EXPIRED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The token has expired; log in again.",
  },
  TOKEN_REVOKED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The token was revoked by a logout, a new password or an admin; log in again.",
  },
  CERTIFICATE_UNKNOWN: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The client certificate is valid, but none of its names belongs to a user.",
  },
  USER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No user has this name.",
  },
  USER_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "A user of this name already exists.",
  },
  USER_HAS_GRANTS: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The user has grants, which a role or services alone would replace; set `grants` too, or an empty list to remove them.",
  },
  LAST_ADMIN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The user is the last admin, and must remain one until there is another.",
  },
  CERTIFICATE_NAME_TAKEN: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "Another user has this certificate name.",
  },
  PROVIDER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The gateway has no identity provider of this name.",
  },
  PROVIDER_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The identity provider does not answer, answers incorrectly, or refuses the gateway itself; the log has the details.",
  },
  LOGIN_NOT_BEGUN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "This browser or program has not begun the login, has begun it at another identity provider, or took more than ten minutes; begin again.",
  },
  LOGIN_REFUSED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning:
      "The identity provider did not confirm the login, or its answer is not valid for this login; begin again.",
  },
  LOGIN_WITHOUT_ROLE: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "The identity provider confirmed the user, but the rules in `auth.providers` give its groups no role, or too many grants.",
  },
  LOGIN_NOT_CHECKABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The identity provider issues no refresh token, or has no device logins; the message says what to change at the provider.",
  },
  USER_OF_PROVIDER: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "An identity provider decides what this user may do and logs it in; change the user's groups there, or the rules in `auth.providers`.",
  },
  API_TOKEN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No API token has this name, or it is revoked.",
  },
  API_TOKEN_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "An API token of this name already exists.",
  },
});
