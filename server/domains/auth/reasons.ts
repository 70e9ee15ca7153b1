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
      "The user has grants, which a role or services alone would replace; the request must set grants too.",
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
