import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { type Effect, InfraError } from "../../../adapters/host/infra-error.ts";
import type { Expectations } from "../database-facts.ts";
import type { ProgramModules } from "../program.ts";
import type { Topic } from "../transaction.ts";

/** Start parameters of the worker thread. */
export interface WorkerStart {
  readonly file: string;
  readonly expectations: Expectations;
  readonly modules: ProgramModules;
}

/** Requests to the worker thread. */
export type WorkerRequest =
  | { readonly type: "run"; readonly id: number; readonly name: string; readonly args: unknown }
  | { readonly type: "backup"; readonly id: number; readonly file: string }
  | { readonly type: "close" };

/** Messages of the worker thread: first `ready` or `refused`, then an answer to each request. */
export type WorkerAnswer =
  | { readonly answer: "ready"; readonly notes: readonly string[] }
  | { readonly answer: "refused"; readonly error: PortableError }
  | {
      readonly answer: "done";
      readonly id: number;
      readonly result: unknown;
      readonly topics: readonly Topic[];
    }
  | { readonly answer: "failed"; readonly id: number; readonly error: PortableError };

/** An InfraError in a form that can be sent between threads, which lose classes. */
export interface PortableError {
  readonly reason: Reason;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  readonly effect: Effect | undefined;
  /** An Error keeps its name, message and stack when it is cloned. */
  readonly cause: Error | undefined;
}

/** Takes from an error what the other thread needs to create it again. */
export function portableError({ declared, message, retryAfterMs, effect, cause }: InfraError): PortableError {
  return {
    reason: declared,
    message,
    retryAfterMs,
    effect,
    cause: cause instanceof Error ? plainError(cause) : undefined,
  };
}

/** Keeps only what can be cloned, and drops properties that could contain a value. */
function plainError({ message, stack }: Error): Error {
  const plain = new Error(message);
  plain.stack = stack ?? message;
  return plain;
}

/** Converts an error of another thread back to an InfraError. */
export function errorFromPortable({
  reason,
  message,
  retryAfterMs,
  effect,
  cause,
}: PortableError): InfraError {
  return new InfraError(reason, message, {
    effect,
    ...(cause === undefined ? {} : { cause }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
