import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { type ToolObservation, toolChannel } from "../../../adapters/host/observation.ts";
import { observeStep } from "../../../adapters/host/observe-step.ts";
import { libvirtReasons } from "../../../adapters/libvirt/reasons.ts";

test("observers see a step and its outcome like a tool", async (t) => {
  const seen: ToolObservation[] = [];
  const subscriber = {
    start() {},
    end() {},
    asyncStart() {},
    asyncEnd: (observation: ToolObservation) => void seen.push(observation),
    error() {},
  };
  toolChannel.subscribe(subscriber);
  t.teardown(() => toolChannel.unsubscribe(subscriber));
  const argv = ["virStoragePoolRefresh", "default", "0"];
  const step = { program: "libvirt", subcommand: "refreshPool", argv };
  t.equal(await observeStep(step, async () => "done"), "done");
  const gone = new InfraError(libvirtReasons.STORAGE_POOL_NOT_FOUND, "there is none");
  await t.rejects(
    observeStep(step, () => Promise.reject(gone)),
    gone,
  );
  const reported = { ...step, kind: "mutate" };
  t.match(seen, [
    { ...reported, outcome: { exitCode: 0, failure: undefined } },
    { ...reported, outcome: { exitCode: 1, failure: "STORAGE_POOL_NOT_FOUND" } },
  ]);
});
