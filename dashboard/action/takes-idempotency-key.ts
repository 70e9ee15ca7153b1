import { type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import {
  file_hostplane_options_v1_secrets,
  secret_fields,
} from "../../gen/hostplane/options/v1/secrets_pb.ts";
import { PlanService } from "../../gen/hostplane/v1/plan_pb.ts";

const secretNames: ReadonlySet<string> = new Set(getOption(file_hostplane_options_v1_secrets, secret_fields));

/**
 * Reports whether the gateway recognises a repeated call of the method by its `idempotency-key`. It does so for every unary
 * change, unless the response contains secrets, which are not stored, or the request has its own key.
 */
export function takesIdempotencyKey(method: DescMethod): boolean {
  const { methodKind, idempotency, output } = method;
  return (
    method !== PlanService.method.applyPlan &&
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
    ({ name, message }) =>
      secretNames.has(`${type.typeName}.${name}`) || (message !== undefined && hasSecrets(message, seen)),
  );
}
