import { test } from "tap";
import { createTestClusters } from "./clusters-under-test.ts";

const failure =
  "'cloudinit' hostplane: the machine's image lacks these container images, and pulling is disabled: etcd:3.6.8-0";

test("a machine that reports a failed bootstrap does not count as a node, even if its node exists", async (t) => {
  const clusters = await createTestClusters(t, { machines: 3, patienceMs: 120_000 });
  const { region } = clusters.maas.fake;
  let failedId: string | undefined;
  clusters.start({
    boundary(point) {
      const booted = region.machines().find(({ status }) => status === "deployed");
      if (point === "after write booted" && failedId === undefined && booted !== undefined) {
        failedId = booted.systemId;
        region.reportFailure(failedId, "'cloudinit' running modules for config");
        region.reportFailure(failedId, failure);
      }
    },
  });
  await clusters.create("prod");
  const { slots } = await clusters.untilRunning("prod");
  t.notMatch(slots, [{ systemId: failedId }]);
  const known = await clusters.store.run("clusters.machines", { name: "prod" });
  const events = known?.events.filter(({ isFailure }) => isFailure);
  t.match(events, [{ systemId: failedId, message: /failed to become a node: .*etcd:3\.6\.8-0/ }]);
  t.notOk(
    known?.events.some(({ systemId, state }) => systemId === failedId && state === "joined"),
    "it never counted as joined",
  );
});

test("failures of other modules, and of an earlier installation, are ignored", async (t) => {
  const clusters = await createTestClusters(t, { machines: 1, patienceMs: 120_000 });
  const { region } = clusters.maas.fake;
  const systemId = region.machines()[0]?.systemId ?? "";
  region.reportFailure(systemId, failure);
  clusters.start({
    boundary(point) {
      if (point === "after write booted") {
        region.reportFailure(systemId, "'cloudinit' running modules for config");
      }
    },
  });
  await clusters.create("prod");
  const { slots } = await clusters.untilRunning("prod");
  t.match(slots, [{ systemId }]);
  const known = await clusters.store.run("clusters.machines", { name: "prod" });
  t.notOk(known?.events.some(({ isFailure }) => isFailure));
});
