import { test } from "tap";
import { defineReasons } from "../../../adapters/host/define-reasons.ts";
import { hasReason, InfraError } from "../../../adapters/host/infra-error.ts";

const { LOST, FULL } = defineReasons({
  LOST: { code: "UNAVAILABLE", retryable: true, meaning: "The connection was lost." },
  FULL: { code: "RESOURCE_EXHAUSTED", retryable: false, meaning: "There is no space." },
});

test("an error has the id, code and retryability of its reason", async (t) => {
  t.match(new InfraError(LOST, "x"), {
    reason: "LOST",
    code: "UNAVAILABLE",
    retryable: true,
    declared: LOST,
  });
  t.match(new InfraError(FULL, "x"), { reason: "FULL", code: "RESOURCE_EXHAUSTED", retryable: false });
});

test("an error that may have had an effect is not retryable, until it is known that it had none", async (t) => {
  const possible = new InfraError(LOST, "x").withEffect("possible");
  t.equal(possible.retryable, false);
  t.equal(possible.declared.retryable, true);
  t.equal(possible.withEffect("none").retryable, true);
});

test("an error is compared with reasons by their ids", async (t) => {
  const error = new InfraError(structuredClone(LOST), "from another thread");
  t.ok(error.is(LOST));
  t.ok(error.is(FULL, LOST));
  t.notOk(error.is(FULL));
  t.notOk(error.is());
});

test("anything else has no reason", async (t) => {
  t.ok(hasReason(new InfraError(LOST, "x"), FULL, LOST));
  for (const thrown of [new Error("LOST"), { reason: "LOST" }, "LOST", undefined]) {
    t.notOk(hasReason(thrown, LOST));
  }
});

test("declared reasons cannot be changed", async (t) => {
  t.throws(() => Object.assign(LOST, { retryable: false }), TypeError);
});
