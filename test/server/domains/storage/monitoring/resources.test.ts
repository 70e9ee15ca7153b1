import { test } from "tap";
import { createCephSandbox } from "../../../../../adapters/ceph/sandbox.ts";
import type { Resource } from "../../../../../server/domain/inventory-source.ts";
import { createStorageResources } from "../../../../../server/domains/storage/monitoring/resources.ts";

const { signal } = new AbortController();

function figuresOf(resource: Resource | undefined): Readonly<Record<string, number>> {
  return Object.fromEntries((resource?.figures ?? []).map(({ name, value }) => [name, value]));
}

test("the cluster is called Ceph, and says which checks are raised and which OSDs of a host are down", async (t) => {
  const ceph = createCephSandbox();
  const source = createStorageResources(ceph);
  const find = async (type: string, title: string) =>
    (await source.read(signal)).resources.find((one) => one.type === type && one.title === title);

  const healthy = await find("cephCluster", "Ceph");
  t.match(healthy, { state: "HEALTH_OK", health: "ok", reason: undefined });
  t.equal(healthy?.name, `cephClusters/${healthy?.properties?.fsid}`);
  t.match(await find("cephHost", "sandbox-ceph-1"), {
    health: "ok",
    reason: undefined,
    properties: { daemons: /^mds\.a, mgr\.a, mon\.a, osd\.0, osd\.3$/ },
  });

  await ceph.stopOsd(0);
  t.match(await find("cephCluster", "Ceph"), { health: "degraded", reason: "1 osds down" });
  t.match(await find("cephHost", "sandbox-ceph-1"), { health: "degraded", reason: "osd.0 down" });
  t.match(await find("osd", "osd.0"), { state: "down, in", health: "failed" });
  t.equal(figuresOf(await find("osd", "osd.0")).reweight, 1);
});

test("a pool's share is that of the space it may use: of its quota, if that is smaller than what is free", async (t) => {
  const ceph = createCephSandbox();
  const source = createStorageResources(ceph);
  const images = async () =>
    (await source.read(signal)).resources.find(
      ({ type, title }) => type === "cephPool" && title === "images",
    );
  const withQuota = (quotaBytes: bigint | undefined) =>
    ceph.change((state) => ({
      ...state,
      pools:
        "ok" in state.pools ? { ok: state.pools.ok.map((pool) => ({ ...pool, quotaBytes })) } : state.pools,
    }));
  const before = figuresOf(await images());
  t.match(before, { objects: 51_200, copies: 3, min_copies: 2, redundancy: 2 });
  t.equal(before.quota, undefined);
  const { stored = 0, free = 0 } = before;
  t.equal(before.data_used, (stored / (stored + free)) * 100);

  await withQuota(400n << 30n);
  t.match(figuresOf(await images()), { data_used: 50, quota: 400 * 2 ** 30 });
  await withQuota(1n << 60n);
  t.equal(figuresOf(await images()).data_used, before.data_used);
  await ceph.setManagers(false);
  t.equal(figuresOf(await images()).data_used, undefined);
  t.equal(figuresOf(await images()).stored, undefined);
});
