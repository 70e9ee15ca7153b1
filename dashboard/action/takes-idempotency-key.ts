import { type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { secret } from "../../gen/hostplane/options/v1/secret_pb.ts";

/**
 * Whether the gateway recognises a repeated call of the method by its `idempotency-key`: of every unary change, unless its answer
 * has secrets, the fields with `hostplane.options.v1.secret`, which are not kept.
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
    (field) => getOption(field, secret) || (field.message !== undefined && hasSecrets(field.message, seen)),
  );
}
