import type { DescMethod } from "@bufbuild/protobuf";
import type { MethodRule } from "../call/method-rule.ts";

/** A documented RPC with its rule. */
export interface DocumentedMethod {
  readonly method: DescMethod;
  readonly rule: MethodRule;
}

/** Reports whether a client may send an `idempotency-key` with it. */
export function takesIdempotencyKey({ method, rule }: DocumentedMethod): boolean {
  return (
    rule.mutation &&
    method.methodKind === "unary" &&
    !rule.secretAnswer &&
    rule.idempotencyField === undefined
  );
}

/** Returns the required role as a sentence. */
export function roleSentence({ rule }: DocumentedMethod): string {
  return rule.role === "anyone" ? "Needs no login." : `Needs the role ${rule.role}.`;
}

/** Describes in a sentence how it treats fields that its message does not have. */
export function strictnessSentence({ rule }: DocumentedMethod): string {
  return rule.mutation
    ? "Refuses unknown JSON fields."
    : "Ignores unknown JSON fields, and lists them in the header `hostplane-unknown-fields`.";
}
