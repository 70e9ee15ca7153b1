import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ErrorCode } from "../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { infraErrorFromProtocolError } from "./protocol-error.ts";

/** `google.rpc.ErrorInfo.domain` of every error of the gateway. */
const errorDomain = "hostplane";

const codes: Record<ErrorCode, Code> = {
  CANCELLED: Code.Canceled,
  INVALID_ARGUMENT: Code.InvalidArgument,
  DEADLINE_EXCEEDED: Code.DeadlineExceeded,
  NOT_FOUND: Code.NotFound,
  ALREADY_EXISTS: Code.AlreadyExists,
  PERMISSION_DENIED: Code.PermissionDenied,
  RESOURCE_EXHAUSTED: Code.ResourceExhausted,
  FAILED_PRECONDITION: Code.FailedPrecondition,
  ABORTED: Code.Aborted,
  OUT_OF_RANGE: Code.OutOfRange,
  UNIMPLEMENTED: Code.Unimplemented,
  INTERNAL: Code.Internal,
  UNAVAILABLE: Code.Unavailable,
  DATA_LOSS: Code.DataLoss,
  UNAUTHENTICATED: Code.Unauthenticated,
};

const errorCodesByCode = new Map(Object.entries(codes).map(([name, code]) => [code, name as ErrorCode]));

/** Returns the gateway's name of a code; INTERNAL for one that it never sends. */
export function errorCodeFrom(code: Code): ErrorCode {
  return errorCodesByCode.get(code) ?? "INTERNAL";
}

/**
 * Converts anything thrown to an InfraError: unchanged if it is one, the matching one for a request that connect-es refused, or
 * INTERNAL for a bug in the gateway (whose own message stays in `cause`, for the log).
 */
export function infraErrorFrom(thrown: unknown): InfraError {
  if (thrown instanceof InfraError) {
    return thrown;
  }
  if (thrown instanceof ConnectError) {
    return infraErrorFromProtocolError(thrown);
  }
  return new InfraError(hostReasons.INTERNAL, "internal error; see the gateway's log for the request id", {
    cause: thrown,
  });
}

/**
 * Converts an error to its wire form; no other place does. The form is the code, ErrorInfo with the reason, and BadRequest,
 * PreconditionFailure or RetryInfo where they apply (google/rpc/error_details.proto).
 * @param hasDetails false keeps only the code and the message
 */
export function connectErrorFromInfraError(error: InfraError, hasDetails = true): ConnectError {
  if (!hasDetails) {
    return new ConnectError(error.message, codes[error.code]);
  }
  const metadata: Record<string, string> = { ...error.metadata, retryable: String(error.retryable) };
  if (error.effect !== undefined) {
    metadata.effect = error.effect;
  }
  if (error.resource !== undefined) {
    metadata.resource = error.resource;
  }
  const wire = new ConnectError(error.message, codes[error.code], undefined, [
    { desc: ErrorInfoSchema, value: { reason: error.reason, domain: errorDomain, metadata } },
  ]);
  if (error.violations.length > 0) {
    wire.details.push({ desc: BadRequestSchema, value: { fieldViolations: [...error.violations] } });
  }
  if (error.code === "FAILED_PRECONDITION") {
    wire.details.push({
      desc: PreconditionFailureSchema,
      value: {
        violations: [{ type: error.reason, subject: error.resource ?? "", description: error.message }],
      },
    });
  }
  if (error.retryAfterMs !== undefined) {
    const retryDelay = durationFromMs(Math.ceil(error.retryAfterMs));
    wire.details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return wire;
}
