import type { DescMethodUnary } from "@bufbuild/protobuf";
import { test } from "tap";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { createCephSandbox } from "../../../../adapters/ceph/sandbox.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { kubernetesReasons } from "../../../../adapters/kubernetes/reasons.ts";
import { createKubernetesSandbox } from "../../../../adapters/kubernetes/sandbox.ts";
import { StorageService } from "../../../../gen/hostplane/v1/storage_pb.ts";
import { ResourceStatus } from "../../../../gen/resources/stats/stats_pb.ts";
import { StatsService } from "../../../../gen/stats/stats_pb.ts";
import { createStorageUnderTest } from "./storage-under-test.ts";

const { getClusterStats, getClusterRadar, getClusterNodes, getClusterResources, getKoorCluster } =
  StatsService.method;

const atOnce = { watchedMs: 5, idleMs: 5, keepMs: 30_000 };

test("a complete state is returned with its age, and no field is missing", async (t) => {
  const { call } = createStorageUnderTest(t, { ceph: createCephSandbox() });
  const { message, headers } = await call(getClusterStats);
  t.match(message.stats, { status: "HEALTH_OK", services: { osd: { osdCount: 6, osdUp: 6, osdIn: 6 } } });
  t.match(headers.get("hostplane-snapshot-age"), /^\d+$/);
  t.equal(headers.get("hostplane-missing"), null);
  t.equal(headers.get("hostplane-clamped"), null);
});

test("without a manager its figures are unset and listed; the others are returned", async (t) => {
  const ceph = createCephSandbox();
  const { call } = createStorageUnderTest(t, { ceph });
  await ceph.setManagers(false);
  const { message, headers } = await call(getClusterStats);
  t.equal(
    headers.get("hostplane-missing"),
    "crashes, iops, data.volumes, data.pools.pgs, data.objects, data.usage",
  );
  const { services, data, iops } = message.stats ?? {};
  t.match(services, { mon: { daemonCount: 3 }, mgr: { active: "" }, osd: { osdUp: 6 } });
  t.match(data, { volumes: 0, pools: { pools: 4, pgs: undefined }, objects: undefined, usage: undefined });
  t.equal(iops, undefined);
  await t.rejects(call(getClusterRadar), {
    name: "InfraError",
    reason: "FIGURE_UNAVAILABLE",
    message:
      /capacity_available: no manager is active; stability: no manager is active; reliability: no manager is active$/,
  });
});

test("a count beyond int32 is clamped and listed, not an error", async (t) => {
  const ceph = createCephSandbox();
  const { call } = createStorageUnderTest(t, { ceph });
  await ceph.change((state) => ({
    ...state,
    objects: { ok: { count: 3_000_000_000, storedBytes: 1n << 50n } },
  }));
  const { message, headers } = await call(getClusterStats);
  t.match(message.stats?.data?.objects, { objectCount: 2_147_483_647, size: "1.00 PiB" });
  t.equal(headers.get("hostplane-clamped"), "data.objects.object_count");
});

test("the radar explains each score", async (t) => {
  const ceph = createCephSandbox();
  const { call } = createStorageUnderTest(t, { ceph });
  await call(getClusterRadar);
  await ceph.stopOsd(3);
  await ceph.crash("osd.3");
  const { message, headers } = await call(getClusterRadar);
  t.match(message.radar, { clusterHealth: 80, nodesHealth: 100, stability: 80, reliability: 100 });
  t.match(
    headers.get("hostplane-radar"),
    /^cluster_health: OSD_DOWN -15, RECENT_CRASH -5; nodes_health: 3 of 3 ready; capacity_available: [\d.]+ TiB of [\d.]+ TiB free; stability: flaps=1 -10, crashes=1 -10, seen since \S+Z; reliability: no deductions$/,
  );
});

test("a stale state is returned with its age, until it is too old", async (t) => {
  const outage = new InfraError(cephReasons.CEPH_UNAVAILABLE, "the monitors are away");
  const ceph = createCephSandbox(atOnce);
  const { call } = createStorageUnderTest(t, { ceph });
  await call(getClusterStats);
  await ceph.setOutage(outage);
  const { message, headers } = await call(getClusterStats);
  t.match(message.stats, { status: "HEALTH_OK" });
  t.match(headers.get("hostplane-snapshot-age"), /^\d+$/);

  const forgetful = createCephSandbox({ ...atOnce, keepMs: 0 });
  const late = createStorageUnderTest(t, { ceph: forgetful });
  await forgetful.setOutage(outage);
  await t.rejects(late.call(getClusterStats), {
    name: "InfraError",
    reason: "CEPH_UNAVAILABLE",
    message: "the monitors are away",
  });
});

test("the readiness of nodes comes from Kubernetes if configured, else from Ceph", async (t) => {
  const alone = createStorageUnderTest(t, { ceph: createCephSandbox() });
  const { message, headers } = await alone.call(getClusterNodes);
  t.equal(message.nodes.length, 3);
  t.equal(headers.get("hostplane-missing"), "nodes.roles, nodes.internal_ip, nodes.external_ip, nodes.age");
  const both = createStorageUnderTest(t, {
    ceph: createCephSandbox(),
    kubernetes: createKubernetesSandbox(),
  });
  const whole = await both.call(getClusterNodes);
  t.equal(whole.headers.get("hostplane-missing"), null);
  t.same(
    whole.message.nodes.map(({ name }) => name),
    message.nodes.map(({ name }) => name),
  );
  t.match((await both.call(getClusterRadar)).message.radar, { nodesHealth: 100 });
});

test("if Kubernetes is unreachable or its namespace empty, nodes come from Ceph, with the reason", async (t) => {
  const away = createKubernetesSandbox();
  const read = () => Promise.reject(new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, "no answer"));
  const empty = createKubernetesSandbox();
  for (const { metadata } of empty.manifests("pods")) {
    empty.remove("pods", metadata.name);
  }
  const cases = [
    [{ ...away, read }, /3 of 3 ready by Ceph \(no answer\)/],
    [empty, /3 of 3 ready by Ceph \(no pod of a CephCluster/],
  ] as const;
  for (const [kubernetes, words] of cases) {
    const { call } = createStorageUnderTest(t, { ceph: createCephSandbox(), kubernetes });
    const radar = await call(getClusterRadar);
    t.match(radar.message.radar, { nodesHealth: 100 });
    t.match(radar.headers.get("hostplane-radar"), words);
    const { message, headers } = await call(getClusterNodes);
    t.equal(message.nodes.length, 3);
    t.match(headers.get("hostplane-missing"), /^nodes\.roles, /);
  }
  const carrier = createStorageUnderTest(t, { kubernetes: { ...away, read } });
  await t.rejects(carrier.call(getClusterNodes), { name: "InfraError", reason: "KUBERNETES_UNAVAILABLE" });
});

test("calls that need a system which is not configured fail, and name the key", async (t) => {
  const { call } = createStorageUnderTest(t, { ceph: createCephSandbox() });
  for (const method of [getClusterResources, getKoorCluster]) {
    await t.rejects(
      call(method),
      { name: "InfraError", reason: "DOMAIN_OFF", message: /storage\.kubernetes/ },
      method.name,
    );
  }
  const carrier = createStorageUnderTest(t, { kubernetes: createKubernetesSandbox() });
  for (const method of [getClusterStats, getClusterRadar, StorageService.method.listOsds]) {
    await t.rejects(
      carrier.call(method),
      { name: "InfraError", reason: "DOMAIN_OFF", message: /storage\.ceph/ },
      method.name,
    );
  }
  t.equal((await carrier.call(getClusterNodes)).message.nodes.length, 3);
  t.equal((await carrier.call(getKoorCluster)).message.koorCluster?.namespace, "rook-ceph");
  t.ok((await carrier.call(getClusterResources)).message.deployments.length > 0);
});

test("callers share one message per state, each with its age and missing fields", async (t) => {
  const ceph = createCephSandbox();
  const kubernetes = createKubernetesSandbox();
  const { call } = createStorageUnderTest(t, { ceph, kubernetes });
  const reported = async <M extends DescMethodUnary>(method: M) => {
    const one = await call(method);
    const other = await call(method);
    t.equal(other.message, one.message, method.name);
    for (const { headers } of [one, other]) {
      t.match(headers.get("hostplane-snapshot-age"), /^\d+$/);
    }
    t.equal(other.headers.get("hostplane-missing"), one.headers.get("hostplane-missing"));
    t.equal(other.headers.get("hostplane-clamped"), one.headers.get("hostplane-clamped"));
    return other;
  };
  const whole = await reported(getClusterStats);
  t.equal(whole.headers.get("hostplane-missing"), null);
  await ceph.change((state) => ({
    ...state,
    clientIo: { missing: "not today" },
    objects: { ok: { count: 3_000_000_000, storedBytes: 1n } },
  }));
  const partly = await reported(getClusterStats);
  t.not(partly.message, whole.message);
  t.equal(partly.headers.get("hostplane-missing"), "iops");
  t.equal(partly.headers.get("hostplane-clamped"), "data.objects.object_count");

  const nodes = await reported(getClusterNodes);
  for (const method of [getClusterResources, getKoorCluster]) {
    t.equal((await call(method)).message, (await call(method)).message, method.name);
  }
  const [first] = nodes.message.nodes;
  kubernetes.remove("nodes", first?.name ?? "");
  const without = await reported(getClusterNodes);
  t.match(without.message.nodes[0], { name: first?.name, status: ResourceStatus.RESOURCE_NOT_READY });
});

test("nodes from Ceph are shared only if Ceph does not replace Kubernetes", async (t) => {
  const alone = createStorageUnderTest(t, { ceph: createCephSandbox() });
  t.equal((await alone.call(getClusterNodes)).message, (await alone.call(getClusterNodes)).message);
  const kubernetes = createKubernetesSandbox();
  const read = () => Promise.reject(new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, "no answer"));
  const { call } = createStorageUnderTest(t, {
    ceph: createCephSandbox(),
    kubernetes: { ...kubernetes, read },
  });
  t.not((await call(getClusterNodes)).message, (await call(getClusterNodes)).message);
});

test("an expired crash is not returned, even if Ceph's state is the same", async (t) => {
  const ceph = createCephSandbox();
  const { call } = createStorageUnderTest(t, { ceph });
  const nowMs = Date.now();
  const crashAt = (id: string, atMs: number) => ({
    id,
    entity: "osd.1",
    host: "ceph-1",
    atMs,
    what: id,
    version: "16.2.15",
    isArchived: false,
  });
  const day = 24 * 3_600_000;
  const crashes = [crashAt("old", nowMs - 13 * day), crashAt("new", nowMs)];
  await ceph.change((state) => ({ ...state, crashes: { ok: crashes } }));
  const before = await call(getClusterStats);
  t.equal(before.message.stats?.crashes.length, 2);
  t.teardown(t.capture(Date, "now", () => nowMs + 2 * day).restore);
  const after = await call(getClusterStats);
  t.match(after.message.stats?.crashes, [{ description: /: new$/ }]);
  t.equal((await call(getClusterStats)).message, after.message);
});
