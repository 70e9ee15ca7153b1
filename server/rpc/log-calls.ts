import type { FastifyBaseLogger } from "fastify";
import { type Level, levels } from "pino";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { ErrorCode } from "../../adapters/host/reasons.ts";
import type { Around, Call } from "./call.ts";
import { infraErrorFrom } from "./errors.ts";
import { methodPathOf } from "./method-rule.ts";

/** Codes that say something is wrong with the gateway or a system behind it. */
const faultCodes: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "UNAVAILABLE", "DATA_LOSS"]);

/**
 * Writes one line for each call when it has ended, a stream when its last message is out: mutations at
 * `info`, reads at `debug`, faults of the gateway or of a system at `warn` with their cause if they have one. Of a request
 * only the name of what it changes is logged, of an answer nothing, nor what is wrong with a request that may hold secrets.
 */
export function createCallLog(log: FastifyBaseLogger): Around {
  return async (call, next) => {
    const startedAtMs = performance.now();
    try {
      const output = await next();
      if (Symbol.asyncIterator in output) {
        call.onOver((error) => write(call, startedAtMs, error));
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
    // That it stops is no fault, however many streams learn of it.
    const isFault = error !== undefined && faultCodes.has(error.code) && error.reason !== "SHUTTING_DOWN";
    const level = isFault ? "warn" : call.rule.mutation ? "info" : "debug";
    if (!isWritten(level)) {
      return;
    }
    // Where the gateway refused for a system that is away, its stack would say a thousand times a second.
    const cause = error?.cause ?? (error?.code === "INTERNAL" ? error : undefined);
    // What is wrong with a request is told in the request's own words: `expected string, got 12345`.
    const hidesMessage = call.rule.secrets && error?.code === "INVALID_ARGUMENT";
    log[level](
      {
        requestId: call.requestId,
        rpc: methodPathOf(call.method),
        protocol: call.protocol,
        peer: call.peer.address,
        caller: call.caller.actor,
        ...(call.resource() === undefined ? {} : { resource: call.resource() }),
        ...(call.operationId() === undefined ? {} : { operationId: call.operationId() }),
        code: error?.code ?? "OK",
        durationMs: Math.round(performance.now() - startedAtMs),
        ...(error === undefined ? {} : { reason: error.reason }),
        ...(error === undefined || hidesMessage ? {} : { message: error.message }),
        ...(isFault && cause !== undefined ? { err: cause } : {}),
      },
      "call",
    );
  }
}
