import { type Test, test } from "tap";
import type { RuntimePod, RuntimeState } from "../../../../../adapters/podman/runtime-state.ts";
import { createPodResources } from "../../../../../server/domains/pods/monitoring/resources.ts";
import { containerOf, idOf, imageOf, podOf, runtimeOf } from "../pods-under-test.ts";

async function resourcesOf(t: Test, pods: readonly RuntimePod[], rest: Partial<RuntimeState> = {}) {
  const source = createPodResources(runtimeOf(t, { pods, ...rest }));
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

test("a pod names its image and addresses, and when it was created", async (t) => {
  const containers = [containerOf("app", { image: { id: "1", name: "localhost/app:1" } })];
  const networks = [
    { name: "a", ipv4: "10.0.0.2", ipv6: "" },
    { name: "b", ipv4: "10.1.0.2", ipv6: "fd00::2" },
  ];
  const [resource] = await resourcesOf(t, [
    podOf("1", { createdAtNs: 5_000_000_000n, containers, networks }),
  ]);
  t.same(resource?.properties, { image: "localhost/app:1", addresses: "10.0.0.2 10.1.0.2 fd00::2" });
  t.same(
    resource?.figures.find(({ name }) => name === "created"),
    { name: "created", value: 5, unit: "seconds" },
  );
});

test("an image says when it was built and how many containers use it", async (t) => {
  const image = imageOf("1a", {
    names: ["localhost/web:2.0", "localhost/web:2"],
    createdAtNs: 7_000_000_000n,
  });
  const containers = [containerOf("app", { image: { id: idOf("1a"), name: "localhost/web:2.0" } })];
  const resources = await resourcesOf(t, [podOf("1", { containers }), podOf("2", { containers })], {
    images: [image, imageOf("2b", { names: [] })],
  });
  const [used, unused] = resources.filter(({ type }) => type === "image");
  t.match(used, {
    title: "localhost/web:2.0",
    properties: { id: idOf("1a"), other_names: "localhost/web:2" },
  });
  t.same(
    used?.figures.filter(({ name }) => name !== "size"),
    [
      { name: "built", value: 7, unit: "seconds" },
      { name: "containers", value: 2, unit: "" },
    ],
  );
  t.same(unused?.figures.find(({ name }) => name === "containers")?.value, 0);
  t.same(unused?.properties, { id: idOf("2b") });
});

test("a pod that cannot be read says why", async (t) => {
  const unreadable = [{ podId: idOf("3"), podUuid: "3", why: "its database is locked" }];
  const [resource] = await resourcesOf(t, [], { unreadable });
  t.match(resource, { state: "unreadable", health: "unknown", reason: "its database is locked" });
});
