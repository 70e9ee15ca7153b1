import type { FastifyBaseLogger } from "fastify";
import { type Level, levels } from "pino";
import type { ErrorCode, Reason } from "../../../adapters/host/define-reasons.ts";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { Call, Interceptor } from "../call/call.ts";
import { methodPathOf } from "../call/method-rule.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { rpcReasons } from "../reasons.ts";
import { createRefusalLines } from "./refusal-lines.ts";

/** Codes for faults in the gateway or a system behind it. */
const faultCodes: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "UNAVAILABLE", "DATA_LOSS"]);

/** Reasons with such a code that the caller is responsible for. */
const callerFaults: readonly Reason[] = [rpcReasons.COMPRESSION_NOT_NAMED];

/** Maximum length of texts in a line about a caller without credentials, who could send any text. */
const unauthenticatedTextMaxLength = 300;

/** A line of the log before it is written. */
interface CallLine {
  readonly level: Level;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Writes one line for each call when it has ended, for a stream when its last message is sent. Mutations are logged at `info`,
 * reads at `debug`, and faults of the gateway or a system at `warn`, with their cause if they have one. Of a request only the
 * name of the changed resource is logged, and nothing of an answer; errors in a request that may contain secrets are not logged
 * either. Refused calls without credentials get a bounded number of lines per minute; the rest is counted (refusal-lines.ts).
 */
export function createCallLog(log: FastifyBaseLogger): Interceptor {
  const unauthenticated = createRefusalLines<CallLine>(
    ({ level, fields }) => log[level](fields, "call"),
    ({ level, fields: { peer, code, reason } }, count) =>
      log[level]({ peer, code, reason, count }, "further refused calls without credentials"),
  );

  return async (call, next) => {
    const startedAtMs = performance.now();
    try {
      const output = await next();
      if (Symbol.asyncIterator in output) {
        call.onStreamEnd((error) => write(call, startedAtMs, error));
      } else {
        write(call, startedAtMs, undefined);
      }
      return output;
    } catch (thrown) {
      write(call, startedAtMs, infraErrorFrom(thrown));
      throw thrown;
    }
  };

  function isWritten(level: Level): boolean {
    return (levels.values[level] ?? 0) >= (levels.values[log.level] ?? Number.POSITIVE_INFINITY);
  }

  function write(call: Call, startedAtMs: number, error: InfraError | undefined): void {
    const isFault = error !== undefined && isFaultOfOurs(error);
    const level = isFault ? "warn" : call.rule.mutation ? "info" : "debug";
    if (!isWritten(level)) {
      return;
    }
    const isUnauthenticated = error !== undefined && call.caller.role === undefined;
    const fields = fieldsOf(call, startedAtMs, error, isUnauthenticated ? truncated : unchanged);
    if (isUnauthenticated) {
      unauthenticated.add(`${call.peer.address} ${error.reason}`, { level, fields });
    } else {
      log[level](fields, "call");
    }
  }
}

function isFaultOfOurs(error: InfraError): boolean {
  // A stopping gateway is not a fault, however many streams end with it.
  return faultCodes.has(error.code) && !error.is(hostReasons.SHUTTING_DOWN, ...callerFaults);
}

function fieldsOf(
  call: Call,
  startedAtMs: number,
  error: InfraError | undefined,
  text: typeof unchanged,
): CallLine["fields"] {
  const resource = call.resource();
  return {
    requestId: call.requestId,
    rpc: methodPathOf(call.method),
    protocol: call.protocol,
    peer: call.peer.address,
    caller: call.caller.actor,
    ...(call.fleetHost === undefined ? {} : { fleetHost: call.fleetHost }),
    ...(resource === undefined ? {} : { resource: text(resource) }),
    ...(call.operationId() === undefined ? {} : { operationId: call.operationId() }),
    code: error?.code ?? "OK",
    durationMs: Math.round(performance.now() - startedAtMs),
    ...(error === undefined ? {} : errorFieldsOf(error, call.rule.secrets, text)),
  };
}

function errorFieldsOf(error: InfraError, secrets: boolean, text: typeof unchanged): CallLine["fields"] {
  // Of errors without a cause only INTERNAL is logged with its stack: refusals for an unreachable system would repeat theirs a
  // thousand times a second.
  const cause = error.cause ?? (error.code === "INTERNAL" ? error : undefined);
  // The message of such an error repeats the request: `expected string, got 12345`.
  const hidesMessage = secrets && error.code === "INVALID_ARGUMENT";
  return {
    reason: error.reason,
    ...(hidesMessage ? {} : { message: text(error.message) }),
    ...(isFaultOfOurs(error) && cause !== undefined ? { err: cause } : {}),
  };
}

function unchanged(text: string): string {
  return text;
}

function truncated(text: string): string {
  return text.length <= unauthenticatedTextMaxLength
    ? text
    : `${text.slice(0, unauthenticatedTextMaxLength)}…`;
}
