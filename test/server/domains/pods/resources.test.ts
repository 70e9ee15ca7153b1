import { type Test, test } from "tap";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { createPodResources } from "../../../../server/domains/pods/resources.ts";
import { containerOf, podOf, runtimeOf } from "./pods-under-test.ts";

async function resourcesOf(t: Test, pods: readonly RuntimePod[]) {
  const source = createPodResources(runtimeOf(t, { pods }));
  return (await source.read(AbortSignal.timeout(10_000))).resources;
}

function exitedPod(digits: string, exitCode: number): RuntimePod {
  return podOf(digits, { phase: "exited", containers: [containerOf("app", { state: "exited", exitCode })] });
}

test("a pod whose program failed says so; one that ran to its end or was stopped is ok", async (t) => {
  const [failed, done, stopped] = await resourcesOf(t, [
    exitedPod("1", 137),
    exitedPod("2", 0),
    exitedPod("3", 143),
  ]);
  t.match(failed, { health: "failed", reason: "app exited with code 137" });
  for (const well of [done, stopped]) {
    t.equal(well?.health, "ok");
    t.equal(well?.reason, undefined);
  }
});

test("a pod names its image, and when it was created", async (t) => {
  const containers = [containerOf("app", { image: { id: "1", name: "localhost/app:1" } })];
  const [resource] = await resourcesOf(t, [podOf("1", { createdAtNs: 5_000_000_000n, containers })]);
  t.same(resource?.properties, { image: "localhost/app:1" });
  t.same(
    resource?.figures.find(({ name }) => name === "created"),
    { name: "created", value: 5, unit: "seconds" },
  );
});
