import type { DescMethod } from "@bufbuild/protobuf";
import type { MethodRule } from "../method-rule.ts";

/** An RPC that documents tell of, with what the gateway knows of it beyond its messages. */
export interface DocumentedMethod {
  readonly method: DescMethod;
  readonly rule: MethodRule;
}

/** Whether a client may send an `idempotency-key` with it. */
export function takesIdempotencyKey({ method, rule }: DocumentedMethod): boolean {
  return rule.mutation && method.methodKind === "unary" && !rule.secretAnswer;
}

/** Who may call it, as a sentence. */
export function roleSentence({ rule }: DocumentedMethod): string {
  return rule.role === "anyone" ? "Needs no login." : `Needs the role ${rule.role}.`;
}

/** What it does with fields that its message does not have, as a sentence. */
export function strictnessSentence({ rule }: DocumentedMethod): string {
  return rule.mutation
    ? "Refuses JSON fields that its message does not have."
    : "Ignores JSON fields that its message does not have, and names them in the header `hostplane-unknown-fields`.";
}
