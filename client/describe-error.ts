import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { OperationState } from "../gen/hostplane/v1/operation_pb.ts";
import { OperationFailed } from "./operation-failed.ts";

/** What a program needs to handle an error, and what a person needs to understand it. */
export interface ErrorDescription {
  /** gRPC status code, e.g. "NOT_FOUND". */
  readonly code: string;
  /** Reason from the table in docs/reference/errors.md, e.g. "VOLUME_NOT_FOUND". Empty when the error does not come from the gateway. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** Path of the first invalid field of the request, e.g. "size_gb". Absent when no field was at fault. */
  readonly field?: string;
  /** Whether the same call may succeed later without any other change. */
  readonly retryable: boolean;
  /** When to retry, in milliseconds after the response. Absent when the gateway gives no time. */
  readonly retryAfterMs?: number;
  /** Further facts, such as `resource`; see docs/reference/errors.md. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Codes that are usually temporary when no gateway has said otherwise: a proxy's, or those of a broken connection. */
const passingCodes: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
  Code.Aborted,
]);

/** Describes the error of any call, stream or operation. Never throws. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof OperationFailed) {
    return describeFailedOperation(error);
  }
  const failure =
    error instanceof Error
      ? ConnectError.from(error)
      : new ConnectError("a value that is not an Error was thrown");
  const [info] = failure.findDetails(ErrorInfoSchema);
  if (info === undefined && isConnectionFailure(error)) {
    const message = "the gateway cannot be reached, or the connection to it was lost";
    return { code: "UNAVAILABLE", reason: "", message, retryable: true, metadata: {} };
  }
  const field = failure.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field;
  const delay = failure.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return {
    code: codeName(failure.code),
    reason: info?.reason ?? "",
    message: failure.rawMessage,
    ...(field === undefined ? {} : { field }),
    retryable: info === undefined ? passingCodes.has(failure.code) : info.metadata.retryable === "true",
    ...(delay === undefined ? {} : { retryAfterMs: Number(delay.seconds) * 1000 + delay.nanos / 1e6 }),
    metadata: { ...info?.metadata },
  };
}

function describeFailedOperation({ message, operation }: OperationFailed): ErrorDescription {
  const wasCancelled = operation.state === OperationState.CANCELLED;
  return {
    code: operation.error?.code || "ABORTED",
    reason: operation.error?.reason || (wasCancelled ? "OPERATION_CANCELLED" : ""),
    message,
    retryable: false,
    metadata: { operation: operation.id, resource: operation.resource },
  };
}

/**
 * Reports whether no response arrived, or only a part of one. connect-web wraps what `fetch` throws, a TypeError in every engine,
 * and throws a string when a stream ends before its last message.
 */
function isConnectionFailure(error: unknown): boolean {
  return (
    error instanceof ConnectError &&
    error.code === Code.Unknown &&
    (error.cause instanceof TypeError || typeof error.cause === "string")
  );
}

/** Converts "NotFound" to "NOT_FOUND". `Canceled` is spelt as in gRPC. */
function codeName(code: Code): string {
  return code === Code.Canceled ? "CANCELLED" : Code[code].replace(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase();
}
