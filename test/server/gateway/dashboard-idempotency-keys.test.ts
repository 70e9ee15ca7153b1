import { test } from "tap";
import { services } from "../../../client/services.ts";
import { takesIdempotencyKey } from "../../../dashboard/action/takes-idempotency-key.ts";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";

test("a key is sent with exactly those changes for which the gateway accepts one", async (t) => {
  for (const method of Object.values(services).flatMap((service) => service.methods)) {
    const { mutation, secretAnswer, idempotencyField } = methodRuleOf(method);
    if (mutation) {
      const isTaken = method.methodKind === "unary" && !secretAnswer && idempotencyField === undefined;
      t.equal(takesIdempotencyKey(method), isTaken, `${method.parent.typeName}/${method.name}`);
    }
  }
});
