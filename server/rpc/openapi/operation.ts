import type { JsonObject } from "@bufbuild/protobuf";
import { methodPathOf } from "../call/method-rule.ts";
import type { CommentOf } from "./contract-comments.ts";
import { type DocumentedMethod, roleSentence, strictnessSentence } from "./documented-method.ts";

/**
 * Creates an operation with the texts that all operations of the method share: its comment, the role it needs, and how strict it
 * is.
 * @param how the parts of one operation: parameters, body and responses; its description comes last
 */
export function operationOf(
  documented: DocumentedMethod,
  commentOf: CommentOf,
  operationId: string,
  { description = "", ...how }: JsonObject,
): JsonObject {
  const { method, rule } = documented;
  const comment = commentOf(method);
  const sentences = `${roleSentence(documented)} ${strictnessSentence(documented)}`;
  return {
    operationId,
    tags: [method.parent.typeName],
    summary: methodPathOf(method),
    description: [comment, sentences, description].filter((part) => part !== "").join("\n\n"),
    ...(rule.role === "anyone" ? { security: [{}] } : {}),
    "x-hostplane-kind": method.methodKind,
    "x-hostplane-role": rule.role,
    "x-hostplane-mutation": rule.mutation,
    ...how,
  };
}
