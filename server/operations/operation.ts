import type { ErrorCode } from "../../adapters/host/define-reasons.ts";

/** A value that can be stored as JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The last four are end states. */
export const operationStates = [
  "scheduled",
  "active",
  "undoing",
  "completed",
  "failed",
  "cancelled",
  "needsAttention",
] as const;

export type OperationState = (typeof operationStates)[number];

const endStates: ReadonlySet<OperationState> = new Set([
  "completed",
  "failed",
  "cancelled",
  "needsAttention",
]);

/** Reports whether the operation has ended; only a retry changes it then. */
export function hasEnded({ state }: Pick<Operation, "state">): boolean {
  return endStates.has(state);
}

export type StepState = "pending" | "running" | "done" | "failed" | "undoing" | "undone" | "undoFailed";

export interface OperationStepFacts {
  readonly name: string;
  readonly state: StepState;
  readonly attempt: number;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly error: string | undefined;
}

/** What a user must know about an operation that could be neither completed nor undone; one sentence per entry. */
export interface Attention {
  readonly left: readonly string[];
  readonly advice: readonly string[];
}

export interface OperationFailure {
  readonly code: ErrorCode;
  /** Id of the reason. */
  readonly reason: string;
  /** Whether the same change may succeed later; absent: it will not. */
  readonly retryable?: boolean;
  readonly message: string;
}

/** A durable operation as callers see it. Times are milliseconds of the store's clock. */
export interface Operation {
  readonly id: string;
  /** e.g. `volumes.backup`. */
  readonly kind: string;
  readonly resource: string;
  /** ID of the system that it targets. */
  readonly backend: string;
  /** Host that it must run on; undefined: any. */
  readonly host: string | undefined;
  /** RPC that started it, as `package.Service/Method`. */
  readonly rpc: string;
  readonly actor: string;
  /** Null in events, where it would be repeated with every change. */
  readonly input: Json;
  readonly state: OperationState;
  readonly message: string;
  /** Why it does not run yet; empty when it runs. */
  readonly waitingFor: string;
  /** Completed share of the whole, 0 to 1. */
  readonly progress: number | undefined;
  readonly doneBytes: number | undefined;
  readonly totalBytes: number | undefined;
  readonly step: string | undefined;
  readonly steps: readonly OperationStepFacts[];
  readonly attempt: number;
  readonly isCancelRequested: boolean;
  /** Whether Cancel would be accepted. */
  readonly isCancellable: boolean;
  readonly failure: OperationFailure | undefined;
  readonly attention: Attention | undefined;
  readonly result: Json | undefined;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
}
