import { AsyncLocalStorage } from "node:async_hooks";
import { type Effect, InfraError } from "./infra-error.ts";
import type { ErrorCode } from "./reasons.ts";

/** What the changes of one call, or of one part of it, have done so far. */
interface Scope {
  effect: Effect;
}

const scopes = new AsyncLocalStorage<Scope>();

/** Codes of answers that refuse: what was asked for was understood and not done. */
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
 * Runs work that consists of changes, such as a call's handler. An InfraError that it throws without an effect of its own
 * gets that of the changes made so far, as `runChange` and `noteEffect` report them.
 * @param work gets a function for when all its changes were undone
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
 * Runs one change of a system. Afterwards it counts as done; when it throws, as what the error's effect says. An error
 * without one is a refusal, by its code, or the change may have happened.
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
  // Some of the changes happened and others did not: a part of the work is done.
  scope.effect = scope.effect === "none" && effect !== "none" ? effect : "possible";
}

/** The effect of a change that ended with this error. */
export function effectOf(error: unknown): Effect {
  if (!(error instanceof InfraError)) {
    return "possible";
  }
  return error.effect ?? (refusals.has(error.code) ? "none" : "possible");
}
