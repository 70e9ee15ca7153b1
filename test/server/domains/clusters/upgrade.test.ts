import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import { Cluster } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { imagesOf, newSlot, startClusters } from "./clusters-under-test.ts";

const { upgradeCluster, getUpgradeClusterInformation, addNodePool, deleteCluster } = Cluster.method;

const name = "prod";

test("the listed versions are the possible upgrades", async (t) => {
  const images = imagesOf("1.34.8", "1.35.4", "1.35.6", ["1.36.0", "standard"], "1.36.3", "1.37.0");
  const { call, createCluster, store } = await startClusters(t, { images });
  await createCluster(name);
  const reported = () => call(getUpgradeClusterInformation, { name });
  t.match(await reported(), { ok: true, versions: ["1.35.6", "1.36.0", "1.36.3"] });
  await call(addNodePool, {
    clusterName: name,
    workerNodePools: [{ name: "render", instanceType: "gpu", count: 1 }],
  });
  t.same((await reported()).versions, ["1.35.6", "1.36.3"]);
  const refused = (version: string) => call(upgradeCluster, { name, version });
  await t.rejects(refused("1.36.0"), { name: "InfraError", reason: "NO_IMAGE", message: /gpu/ });
  await t.rejects(refused("1.35.9"), { name: "InfraError", reason: "NO_IMAGE", code: "FAILED_PRECONDITION" });
  const impossible = { name: "InfraError", reason: "UPGRADE_REFUSED", code: "FAILED_PRECONDITION" };
  await t.rejects(refused("1.34.8"), { ...impossible, message: /cannot be downgraded/ });
  await t.rejects(refused("1.35.4"), { ...impossible, message: /already/ });
  await t.rejects(refused("1.37.0"), { ...impossible, message: /would skip a minor version/ });
  for (const text of ["", "newest", "1.36", "2.0.0"]) {
    await t.rejects(refused(text), {
      name: "InfraError",
      reason: "INVALID_FIELD",
      violations: [{ field: "version" }],
    });
  }
  t.match(await call(upgradeCluster, { name, version: "v1.36.3" }), { ok: true });
  t.match(await store.run("clusters.get", { name }), {
    cluster: { k8sVersion: "1.36.3", controlPlaneVersion: "1.36.3", generation: 3 },
  });
});

test("the control plane follows the workers, and is never older than before", async (t) => {
  const images = imagesOf(
    ["1.34.8", "standard"],
    ["1.35.4", "standard"],
    ["1.36.3", "standard"],
    ["1.35.6", "gpu"],
    ["1.36.5", "gpu"],
  );
  const { call, store } = await startClusters(t, { images });
  const versions = async () => {
    const { cluster } = (await store.run("clusters.get", { name })) ?? {};
    return [cluster?.k8sVersion, cluster?.controlPlaneVersion];
  };
  await call(Cluster.method.createCluster, {
    name,
    k8sVersion: "1.34.8",
    controlPlaneNodes: { instanceType: "gpu", count: 1 },
    workerNodePools: [{ name: "work", instanceType: "standard", count: 1 }],
  });
  t.same(await versions(), ["1.34.8", "1.35.6"]);
  t.same((await call(getUpgradeClusterInformation, { name })).versions, ["1.35.4"]);
  await call(upgradeCluster, { name, version: "1.35.4" });
  t.same(await versions(), ["1.35.4", "1.35.6"]);
  t.same((await call(getUpgradeClusterInformation, { name })).versions, ["1.36.3"]);
  await call(upgradeCluster, { name, version: "1.36.3" });
  t.same(await versions(), ["1.36.3", "1.36.5"]);
  t.match(await call(getUpgradeClusterInformation, { name }), { ok: false, versions: [] });
});

test("a cluster that is being upgraded or deleted, or has no endpoint, cannot be upgraded, and the error says so", async (t) => {
  const { call, createCluster, writeSlots } = await startClusters(t);
  await createCluster(name);
  await writeSlots([newSlot("s-1"), newSlot("s-2", "work")]);
  await call(upgradeCluster, { name, version: "1.36.3" });
  const none = { ok: false, versions: [] };
  t.match(await call(getUpgradeClusterInformation, { name }), none);
  await t.rejects(call(upgradeCluster, { name, version: "1.36.3" }), {
    name: "InfraError",
    reason: "UPGRADE_IN_PROGRESS",
    code: "FAILED_PRECONDITION",
    retryable: true,
  });
  await call(deleteCluster, { name });
  t.match(await call(getUpgradeClusterInformation, { name }), none);
  await t.rejects(call(upgradeCluster, { name, version: "1.36.3" }), {
    name: "InfraError",
    reason: "CLUSTER_STOPPING",
  });

  const without = await startClusters(t, { settings: { endpoints: [] } });
  await without.call(Cluster.method.createCluster, {
    name,
    k8sVersion: "1.35.4",
    controlPlaneNodes: { instanceType: "standard", count: 1 },
  });
  t.match(await without.call(getUpgradeClusterInformation, { name }), none);
  await t.rejects(without.call(upgradeCluster, { name, version: "1.36.3" }), {
    name: "InfraError",
    reason: "CLUSTER_ENDPOINT_MISSING",
    code: "FAILED_PRECONDITION",
    message: /clusters\.endpoint/,
  });
  await t.rejects(call(getUpgradeClusterInformation, { name: "none" }), {
    name: "InfraError",
    reason: "CLUSTER_NOT_FOUND",
  });
});

test("while MAAS is unavailable, upgrades fail with that reason, since images may be missing", async (t) => {
  let isAway = false;
  const images = imagesOf("1.35.4", "1.36.3");
  const away = new InfraError(maasReasons.MAAS_UNAVAILABLE, "MAAS is away");
  const { call, createCluster } = await startClusters(t, {
    images: { read: () => (isAway ? Promise.reject(away) : images.read()) },
  });
  await createCluster(name);
  isAway = true;
  const unavailable = { name: "InfraError", reason: "MAAS_UNAVAILABLE", code: "UNAVAILABLE" };
  await t.rejects(call(upgradeCluster, { name, version: "1.36.3" }), unavailable);
  await t.rejects(call(getUpgradeClusterInformation, { name }), unavailable);
});

test("a control plane never gets further ahead of its workers than Kubernetes allows", async (t) => {
  let gpuVersion = "1.34.0";
  const { call } = await startClusters(t, {
    images: {
      read: () => imagesOf(["1.31.0", "standard"], ["1.32.0", "standard"], [gpuVersion, "gpu"]).read(),
    },
  });
  await call(Cluster.method.createCluster, {
    name,
    k8sVersion: "1.31.0",
    controlPlaneNodes: { instanceType: "gpu", count: 1 },
    workerNodePools: [{ name: "work", instanceType: "standard", count: 1 }],
  });
  const versions = async () => (await call(getUpgradeClusterInformation, { name })).versions;
  t.same(await versions(), ["1.32.0"], "the control plane stays at 1.34");
  gpuVersion = "1.35.0";
  t.same(await versions(), [], "1.35 is four minor versions newer than 1.31");
  await t.rejects(call(upgradeCluster, { name, version: "1.32.0" }), {
    name: "InfraError",
    reason: "NO_IMAGE",
  });
});
