import type { DescMessage } from "@bufbuild/protobuf";
import { test } from "tap";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { readContractServices } from "../../harness/contract-services.ts";
import { openOwnStore } from "../../store/own-store.ts";
import { testIdempotencyContract } from "./idempotency-contract.ts";

test("two gateways on one SQLite store", async (t) =>
  testIdempotencyContract(t, async (t) => {
    const store = await openOwnStore(t);
    return [store, store];
  }));

test("no change has a map in its request: its entries are unordered, so equal requests could differ in bytes", async (t) => {
  for (const method of (await readContractServices()).flatMap(({ methods }) => methods)) {
    if (methodRuleOf(method).mutation) {
      t.notOk(hasMap(method.input, new Set()), methodPathOf(method));
    }
  }
});

function hasMap(type: DescMessage, seen: Set<string>): boolean {
  if (seen.has(type.typeName)) {
    return false;
  }
  seen.add(type.typeName);
  return type.fields.some(
    ({ fieldKind, message }) => fieldKind === "map" || (message !== undefined && hasMap(message, seen)),
  );
}
