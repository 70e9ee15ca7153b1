import { Code, type ConnectError } from "@connectrpc/connect";
import { type FieldViolation, InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { rpcReasons } from "../reasons.ts";
import { describeMessageLimit } from "./message-too-large.ts";

/**
 * Adds a reason to an error that connect-es raised while it read a request, before a handler was called or while a stream ended.
 * It matches the texts of connect-es 2.2 and protobuf-es 2.17; the protocol tests verify them.
 */
export function infraErrorFromProtocolError(error: ConnectError): InfraError {
  const message = error.rawMessage;
  switch (error.code) {
    case Code.DeadlineExceeded:
      return new InfraError(rpcReasons.DEADLINE, "the deadline of the call has passed", { cause: error });
    case Code.Canceled:
    case Code.Aborted:
      return new InfraError(hostReasons.CALLER_LEFT, "the caller has disconnected", { cause: error });
    case Code.ResourceExhausted:
      return new InfraError(rpcReasons.MESSAGE_TOO_LARGE, messageTooLarge(message), {
        cause: error,
      });
    case Code.Unimplemented:
      return message.startsWith("unknown compression")
        ? new InfraError(rpcReasons.UNSUPPORTED_COMPRESSION, message, { cause: error })
        : malformed(message, error);
    case Code.InvalidArgument:
      return malformed(message, error);
    case Code.Internal:
      if (message.startsWith("received compressed envelope")) {
        return new InfraError(rpcReasons.COMPRESSION_NOT_NAMED, message, { cause: error });
      }
      // 'parse binary: premature EOF', 'protocol error: promised 9 bytes in enveloped message, got 2 bytes' and 'protocol error:
      // invalid flags' are errors of the client; 'serialize binary: ...' is a fault of the gateway.
      return /^(parse binary|protocol error|invalid |decompression failed|received )/.test(message)
        ? malformed(message, error)
        : new InfraError(hostReasons.INTERNAL, "internal error; see the gateway's log for the request id", {
            cause: error,
          });
    default:
      return new InfraError(
        hostReasons.INTERNAL,
        "internal error; see the gateway's log for the request id",
        {
          cause: error,
        },
      );
  }
}

function malformed(message: string, cause: unknown): InfraError {
  // cannot decode message proto.CreateLVRequest from JSON: key "sizeGB" is unknown
  const unknown = /from JSON: key "(.*)" is unknown$/s.exec(message);
  if (unknown !== null) {
    const field = unknown[1] ?? "";
    const description = "unknown field";
    return new InfraError(rpcReasons.UNKNOWN_FIELD, `${field}: ${description}`, {
      violations: [{ field, description }],
      cause,
    });
  }
  // cannot decode field proto.CreateLVRequest.size_gb from JSON: expected uint64, got "x"
  const wrong = /^cannot decode field \S+?\.([A-Za-z0-9_]+) from JSON: (.*)$/s.exec(message);
  if (wrong !== null) {
    const violation: FieldViolation = {
      field: wrong[1] ?? "",
      description: describeWrongValue(wrong[2] ?? ""),
    };
    return new InfraError(hostReasons.INVALID_FIELD, `${violation.field}: ${violation.description}`, {
      violations: [violation],
      cause,
    });
  }
  return new InfraError(rpcReasons.MALFORMED_REQUEST, message, { cause });
}

/**
 * Rewrites `message size 9 is larger than configured readMaxBytes 8 after decompression` with the configuration key. If the first
 * byte of the size is printable, the message probably has no envelope and begins with text such as `{"id": 1}`.
 */
function messageTooLarge(message: string): string {
  const words = message.replace(/configured (?:read|write)MaxBytes (\d+)/, (_all, maxBytes: string) =>
    describeMessageLimit(Number(maxBytes)),
  );
  const size = Number(/^message size (\d+)/.exec(message)?.[1]);
  return size >= 0x20000000
    ? `${words}; if the message is smaller, it probably lacks the five-byte envelope head that streams need`
    : words;
}

const int32Range = "-2147483648 to 2147483647";
const int64Range = "-9223372036854775808 to 9223372036854775807";

/** Ranges of the scalar types in the contract. */
const rangeOf: Readonly<Record<string, string>> = {
  int32: int32Range,
  sint32: int32Range,
  uint32: "0 to 4294967295",
  int64: int64Range,
  uint64: "0 to 18446744073709551615",
};

/**
 * Rewrites `expected bigint (uint64): abc out of range`, which protobuf-es reports for any invalid number, and `expected number
 * (int32), got "x"`.
 */
function describeWrongValue(words: string): string {
  return words.replace(
    /^expected (?:bigint|number) \((\w+)\)(?:: |, got )(.*?)(?: out of range)?$/s,
    (_all, type: string, value: string) =>
      type in rangeOf
        ? `must be a whole number from ${rangeOf[type]}, is ${value}`
        : `must be a number of type ${type}, is ${value}`,
  );
}
