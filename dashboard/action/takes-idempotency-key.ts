import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";

/**
 * Whether the gateway recognises a repeated call of the method by its `idempotency-key`: of every unary change, unless its answer
 * has secrets, the fields with `debug_redact`, which are not kept.
 */
export function takesIdempotencyKey({ methodKind, idempotency, output }: DescMethod): boolean {
  return (
    methodKind === "unary" &&
    idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS &&
    !hasSecrets(output, new Set())
  );
}

function hasSecrets(type: DescMessage, seen: Set<string>): boolean {
  if (seen.has(type.typeName)) {
    return false;
  }
  seen.add(type.typeName);
  return type.fields.some(
    ({ proto, message }) =>
      proto.options?.debugRedact === true || (message !== undefined && hasSecrets(message, seen)),
  );
}
