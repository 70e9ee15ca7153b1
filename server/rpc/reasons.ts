import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons for which a call is refused before or beside the work of its domain. */
export const rpcReasons = defineReasons({
  MALFORMED_REQUEST: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The body, a header or a query parameter could not be decoded; the message says where.",
  },
  UNKNOWN_FIELD: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "A mutation carries a JSON field or a query parameter that its message does not have; nothing was done.",
  },
  UNKNOWN_HEADER: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The request has a `hostplane-*` header that the gateway does not know; nothing was done.",
  },
  METHOD_NOT_FOUND: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The gateway has no such method.",
  },
  NOT_BUILT: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The domain is implemented, but this method or this part of its request is not yet.",
  },
  UNSUPPORTED_COMPRESSION: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The request uses an unsupported compression; the message lists the supported ones.",
  },
  COMPRESSION_NOT_NAMED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "A message is marked as compressed, but no header names the compression; the gRPC specification prescribes this code.",
  },
  REQUEST_CARDINALITY: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The request has no message, or more than one, and the method takes exactly one.",
  },
  MESSAGE_TOO_LARGE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "A message is larger than the limit of the listener.",
  },
  SERVICE_NOT_ON_LISTENER: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The service exists, but this listener does not serve it (`listen[].services`).",
  },
  HOST_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The request's host is not the listener's: a listener without login accepts only its own.",
  },
  ORIGIN_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The request comes from a web page whose origin `cors.origins` does not list.",
  },
  FORWARDED_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "The request has a proxy header; a listener without login rejects these unless it has `allowForwarded: true`.",
  },
  LOGIN_REQUIRED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The method requires a login, and the call has none.",
  },
  ROLE_REQUIRED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The caller's role may not call the method; the message names the role that may.",
  },
  SERVICE_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The caller's role is limited to other services; the message lists them.",
  },
  NOT_GRANTED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "No grant of the caller covers the method, the resource or the host, whether or not it exists; the message names it.",
  },
  ACCESS_CHANGED: {
    code: "ABORTED",
    retryable: true,
    meaning: "What the caller may do has changed since the stream began: call the method again.",
  },
  TOO_MANY_LOGINS: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "Too many failed logins of this user or from this address; the error says when to retry.",
  },
  LOGIN_PENDING: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning:
      "The user has not confirmed the login at the identity provider yet; the error says when to retry.",
  },
  CALLER_LIMIT: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The caller has reached one of `limits.caller`; the message names it, and the error says when to retry.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "The `idempotency-key` was used within 24 hours for a call with another request; nothing was done.",
  },
  IDEMPOTENCY_KEY_NOT_TAKEN: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "The method does not accept an `idempotency-key`, because its response contains secrets, which are not stored, or because its request contains the key.",
  },
  IDEMPOTENCY_OUTCOME_UNKNOWN: {
    code: "ABORTED",
    retryable: false,
    meaning:
      "The gateway stopped during the first call with this `idempotency-key`; check whether it took effect, then continue with another key.",
  },
  DEADLINE: {
    code: "DEADLINE_EXCEEDED",
    retryable: true,
    meaning: "The deadline of the call passed. A mutation that has started still runs to completion.",
  },
});
