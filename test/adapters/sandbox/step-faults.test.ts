import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { createStepFaults } from "../../../adapters/sandbox/step-faults.ts";

const failure = (text: string) => new InfraError(hostReasons.TOOL_FAILED, text);

test("a fault fails the steps that it applies to, as often as it is meant to", async (t) => {
  const faults = createStepFaults<string>((step) => (step === "start" ? failure("always") : undefined));
  faults.add((step) => (step === "stop" ? failure("twice") : undefined), 2);
  for (const _ of [1, 2, 3]) {
    t.throws(() => faults.assertWorks("start"), { message: "always" });
  }
  t.throws(() => faults.assertWorks("stop"), { message: "twice" });
  t.throws(() => faults.assertWorks("stop"), { message: "twice" });
  faults.assertWorks("stop");
  faults.assertWorks("create");
});

test("of several faults the oldest one applies", async (t) => {
  const faults = createStepFaults<string>();
  faults.add(() => failure("first"), 1);
  faults.add(() => failure("second"), 1);
  t.throws(() => faults.assertWorks("start"), { message: "first" });
  t.throws(() => faults.assertWorks("start"), { message: "second" });
  faults.assertWorks("start");
});

test("an outage makes the system unreachable until it ends", async (t) => {
  const faults = createStepFaults<string>();
  faults.assertReachable();
  const outage = failure("gone");
  faults.setOutage(outage);
  t.equal(faults.outage(), outage);
  t.throws(() => faults.assertReachable(), { message: "gone" });
  faults.setOutage(undefined);
  faults.assertReachable();
});
