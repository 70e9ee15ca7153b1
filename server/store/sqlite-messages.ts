import { type Effect, InfraError } from "../../adapters/host/infra-error.ts";
import type { ReasonName } from "../../adapters/host/reasons.ts";
import type { Expectations } from "./database-facts.ts";
import type { ProgramModules } from "./program.ts";
import type { Topic } from "./transaction.ts";

/** What the worker thread is started with. */
export interface WorkerStart {
  readonly file: string;
  readonly expectations: Expectations;
  readonly modules: ProgramModules;
}

/** What the worker thread is asked. */
export type WorkerRequest =
  | { readonly ask: "run"; readonly id: number; readonly name: string; readonly args: unknown }
  | { readonly ask: "backup"; readonly id: number; readonly file: string }
  | { readonly ask: "close" };

/** What it answers: first that it is ready or why not, then to each request. */
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

/** An InfraError on its way between threads, which lose classes. */
export interface PortableError {
  readonly reason: ReasonName;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  readonly effect: Effect | undefined;
  /** An Error keeps name, message and stack on the way. */
  readonly cause: Error | undefined;
}

export function portableError({ reason, message, retryAfterMs, effect, cause }: InfraError): PortableError {
  return {
    reason,
    message,
    retryAfterMs,
    effect,
    cause: cause instanceof Error ? plainError(cause) : undefined,
  };
}

/** Of what transactions throw only what can be cloned, and no property that could hold a value. */
function plainError({ message, stack }: Error): Error {
  const plain = new Error(message);
  plain.stack = stack ?? message;
  return plain;
}

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
