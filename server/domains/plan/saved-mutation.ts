import { createHmac } from "node:crypto";
import type { PlanFact, PlannedMutation } from "../../operations/mutation.ts";

/** A planned change as it is saved and shown. */
export interface SavedMutation
  extends Pick<PlannedMutation, "kind" | "resource" | "steps" | "pointOfNoReturn"> {
  readonly changes: readonly string[];
  readonly losses: readonly string[];
  /** Everything that the plan is based on, including the identity of its system. */
  readonly facts: readonly PlanFact[];
}

/** Returns the part of a planned change that is saved and shown, its properties in a fixed order. */
export function savedMutationFrom(mutation: PlannedMutation): SavedMutation {
  const { kind, resource, backend, plan, steps, pointOfNoReturn } = mutation;
  return {
    kind,
    resource,
    changes: plan.changes,
    losses: plan.losses,
    steps: steps.map(({ name, command }) => ({ name, command })),
    pointOfNoReturn,
    facts: [
      ...(backend === "" ? [] : [{ resource, name: "backend", value: backend }]),
      ...plan.facts.map(({ resource: of, name, value }) => ({ resource: of, name, value })),
    ],
  };
}

/**
 * Returns the digest of a method, its request and its plan, in hexadecimal.
 * @param request as `canonicalBytes`
 * @param key of the HMAC: a password in a request must not be guessable from its digest
 */
export function digestOf(
  key: Uint8Array,
  method: string,
  request: Uint8Array,
  mutation: SavedMutation,
): string {
  return createHmac("sha256", key)
    .update(`${method}\0`)
    .update(JSON.stringify(mutation))
    .update("\0")
    .update(request)
    .digest("hex");
}

/** Returns the digest of a method and its request, as `digestOf`. */
export function requestDigestOf(key: Uint8Array, method: string, request: Uint8Array): string {
  return createHmac("sha256", key).update(`request ${method}\0`).update(request).digest("hex");
}
