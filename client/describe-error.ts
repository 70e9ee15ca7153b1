import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { OperationState } from "../gen/hostplane/v1/operation_pb.ts";
import { OperationFailed } from "./operation-failed.ts";

/** What a program or a person can do about an error. */
export interface ErrorDescription {
  /** As gRPC writes it, e.g. "NOT_FOUND". */
  readonly code: string;
  /** Of the table in docs/errors.md, e.g. "VOLUME_NOT_FOUND". Empty when it was not the gateway that failed. */
  readonly reason: string;
  /** For people, a sentence. */
  readonly message: string;
  /** The first field that was refused, as its path in the request, e.g. "size_gb". Absent when none was. */
  readonly field?: string;
  /** Whether the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** When the gateway says that it is worth asking again, in milliseconds from its answer. */
  readonly retryAfterMs?: number;
  /** Further facts, such as `resource`; docs/errors.md says which. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Codes that pass by themselves where no gateway has said whether they do: a proxy's, or of a connection that broke. */
const passingCodes: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
  Code.Aborted,
]);

/** What is known of anything that a call, a stream or an operation has failed with. Throws nothing. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof OperationFailed) {
    return describeFailedOperation(error);
  }
  const failure =
    error instanceof Error
      ? ConnectError.from(error)
      : new ConnectError("something else than an error was thrown");
  const [info] = failure.findDetails(ErrorInfoSchema);
  if (info === undefined && isConnectionFailure(error)) {
    const message = "the gateway cannot be reached, or the connection to it broke";
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
 * Whether no answer came, or only a part of it. connect-web wraps what `fetch` has thrown, a TypeError in every engine, and
 * throws a string when a stream ends before its last message.
 */
function isConnectionFailure(error: unknown): boolean {
  return (
    error instanceof ConnectError &&
    error.code === Code.Unknown &&
    (error.cause instanceof TypeError || typeof error.cause === "string")
  );
}

/** "NotFound" to "NOT_FOUND". `Canceled` is spelt as gRPC does. */
function codeName(code: Code): string {
  return code === Code.Canceled ? "CANCELLED" : Code[code].replace(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase();
}
