import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { errorCodes } from "../../../adapters/host/define-reasons.ts";
import { type Effect, type FieldViolation, InfraError } from "../../../adapters/host/infra-error.ts";

/** The outcome of a call, stored to be returned again. */
export interface StoredAnswer {
  /** Resource of the call. */
  readonly resource: string | undefined;
  /** Durable operation of the call. */
  readonly operationId: string | undefined;
  readonly outcome: { readonly message: Message } | { readonly error: InfraError };
}

/** All properties of an error that its caller sees. */
interface KeptError {
  /** Whole, since the version of the gateway that reads it may not declare it. */
  readonly reason: Reason;
  readonly message: string;
  readonly resource?: string;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly effect?: Effect;
}

interface Head {
  readonly resource?: string;
  readonly operationId?: string;
  readonly error?: KeptError;
}

/** JSON never contains this byte. */
const headEnd = 0;

/** Encodes the answer as a head in JSON, a NUL, and the message in binary. */
export function encodeStoredAnswer(
  type: DescMessage,
  { resource, operationId, outcome }: StoredAnswer,
): Uint8Array {
  const head: Head = {
    ...(resource === undefined ? {} : { resource }),
    ...(operationId === undefined ? {} : { operationId }),
    ...("error" in outcome ? { error: keptError(outcome.error) } : {}),
  };
  const body = "message" in outcome ? toBinary(type, create(type, outcome.message)) : new Uint8Array();
  return new Uint8Array(Buffer.concat([Buffer.from(JSON.stringify(head)), Buffer.of(headEnd), body]));
}

/** @throws Error for bytes that `encodeStoredAnswer` did not create */
export function decodeStoredAnswer(type: DescMessage, bytes: Uint8Array): StoredAnswer {
  const end = bytes.indexOf(headEnd);
  const { resource, operationId, error }: Head = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString());
  const outcome =
    error === undefined
      ? { message: fromBinary(type, bytes.subarray(end + 1)) }
      : { error: errorFromKept(error) };
  return { resource, operationId, outcome };
}

function keptError(error: InfraError): KeptError {
  const { declared, message, resource, violations, retryAfterMs, metadata, effect } = error;
  const { id, code, retryable } = declared;
  return {
    reason: { id, code, retryable },
    message,
    violations,
    metadata,
    ...(effect === undefined ? {} : { effect }),
    ...(resource === undefined ? {} : { resource }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function errorFromKept({ reason, message, ...facts }: KeptError): InfraError {
  if (!errorCodes.includes(reason.code)) {
    throw new TypeError(`unknown code ${reason.code}`);
  }
  return new InfraError(reason, message, facts);
}
