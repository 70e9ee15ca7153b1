import { AsyncLocalStorage } from "node:async_hooks";
import type { ErrorCode } from "./define-reasons.ts";
import { type Effect, InfraError } from "./infra-error.ts";

/** Effect so far of the changes of one call, or of one part of it. */
interface Scope {
  effect: Effect;
}

const scopes = new AsyncLocalStorage<Scope>();

/** Error codes of a refusal: the request was understood and not carried out. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "UNAUTHENTICATED",
]);

/**
 * Runs work that makes changes, such as a call's handler. If it throws an InfraError without an effect, the error gets
 * the effect of the changes made so far, as `runChange` and `noteEffect` report them.
 * @param work gets a function to call when all its changes have been undone
 */
export async function trackEffect<T>(work: (onUndone: () => void) => Promise<T>): Promise<T> {
  const scope: Scope = { effect: "none" };
  try {
    const result = await scopes.run(scope, () =>
      work(() => {
        scope.effect = "none";
      }),
    );
    if (scope.effect !== "none") {
      noteEffect(scope.effect);
    }
    return result;
  } catch (error) {
    const hasNoEffect = error instanceof InfraError && error.effect === undefined;
    const stamped = hasNoEffect ? error.withEffect(scope.effect) : error;
    noteEffect(effectOf(stamped));
    throw stamped;
  }
}

/**
 * Runs one change of a system and notes its effect: `done` on success; on failure, the error's own effect. For an error
 * without one, `none` if its code is a refusal, otherwise `possible`.
 */
export async function runChange<T>(change: () => Promise<T>): Promise<T> {
  try {
    const result = await change();
    noteEffect("done");
    return result;
  } catch (error) {
    noteEffect(effectOf(error));
    throw error;
  }
}

/** Adds the effect of one more change to the work that `trackEffect` runs; does nothing outside of it. */
export function noteEffect(effect: Effect): void {
  const scope = scopes.getStore();
  if (scope === undefined || effect === scope.effect) {
    return;
  }
  // Some of the changes happened and others did not.
  scope.effect = scope.effect === "none" && effect !== "none" ? effect : "possible";
}

/** Returns the effect of a change that failed with this error. */
export function effectOf(error: unknown): Effect {
  if (!(error instanceof InfraError)) {
    return "possible";
  }
  return error.effect ?? (refusals.has(error.code) ? "none" : "possible");
}
