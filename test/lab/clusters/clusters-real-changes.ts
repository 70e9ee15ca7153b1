import { join } from "node:path";
import type { Test } from "tap";
import { type ClustersLab, secondsSince } from "./clusters-real-lab.ts";
import { commentNodes, deployWeb, nodesOf, queryWeb, watchAvailable } from "./kubernetes-pods.ts";

/** The cluster of all cases except the last. */
export const first = "demo";

export async function createFirst(t: Test, lab: ClustersLab): Promise<void> {
  await createCluster(lab, { name: first, version: lab.versions.oldest, controlPlane: 1, workers: 2 });
  await lab.untilSettled(t, first, "create 1+2");
  const kubectl = await lab.kubectlOf(first);
  await commentNodes(t, kubectl);
  t.match(
    await nodesOf(kubectl),
    Array.from({ length: 3 }, () => ({ isReady: true, version: lab.versions.oldest })),
  );
}

export async function queryPods(t: Test, lab: ClustersLab): Promise<void> {
  const kubectl = await lab.kubectlOf(first);
  await deployWeb(kubectl, join(lab.directory, "web.json"), 2);
  const nodes = await queryWeb(kubectl, 2);
  t.equal(nodes.length, 2, `pods on ${nodes.join(" and ")} respond`);
}

export async function changeScale(t: Test, lab: ClustersLab): Promise<void> {
  await scaleTo(t, lab, 3);
  await scaleTo(t, lab, 2);
}

export async function addPool(t: Test, lab: ClustersLab): Promise<void> {
  const labels = [{ name: "tier", value: "gold" }];
  const workerNodePools = [{ name: "more", instanceType: "standard", count: 1, labels }];
  await lab.client.query(({ clusters }) => clusters.addNodePool({ clusterName: first, workerNodePools }));
  await lab.untilSettled(t, first, "add a pool");
  const kubectl = await lab.kubectlOf(first);
  const named = (await kubectl("get", "nodes", "--selector=tier=gold", "--output=name")).trim().split("\n");
  t.equal(named.length, 1, `${named} has the label of the pool`);
  const nodePoolNames = ["more"];
  await lab.client.query(({ clusters }) => clusters.deleteNodePool({ clusterName: first, nodePoolNames }));
  await lab.untilSettled(t, first, "delete a pool");
  t.equal((await nodesOf(kubectl)).length, 3);
}

export async function upgrade(t: Test, lab: ClustersLab): Promise<void> {
  const { oldest, newest } = lab.versions;
  if (newest === oldest) {
    t.comment("no upgrade: there is an image of only one version");
    return;
  }
  const offered = await lab.client.query(({ clusters }) =>
    clusters.getUpgradeClusterInformation({ name: first }),
  );
  t.ok(offered?.versions.includes(newest), `${offered?.versions}`);
  const kubectl = await lab.kubectlOf(first);
  const watch = watchAvailable(kubectl);
  await lab.client.query(({ clusters }) => clusters.upgradeCluster({ name: first, version: newest }));
  await lab.untilSettled(t, first, `upgrade from ${oldest} to ${newest}`);
  const { fewest, reads, failed } = await watch.end();
  t.comment(`${failed} of ${reads} reads failed while control plane machines were replaced`);
  t.ok(fewest >= 1, `at least ${fewest} pods were available at all times`);
  await commentNodes(t, kubectl);
  t.match(
    await nodesOf(kubectl),
    Array.from({ length: 3 }, () => ({ isReady: true, version: newest })),
  );
  await queryWeb(kubectl, 1);
}

export async function removeFirst(t: Test, lab: ClustersLab): Promise<void> {
  await removeCluster(t, lab, first);
}

export async function removeCluster(t: Test, lab: ClustersLab, name: string): Promise<void> {
  const beganMs = performance.now();
  await lab.client.query(({ clusters }) => clusters.deleteCluster({ name }));
  await lab.until(name, (state) => state === undefined);
  await lab.machines.idle();
  t.comment(`delete ${name}: ${secondsSince(beganMs)}`);
  t.same(lab.machines.owned(), [], "no machine is owned");
}

export interface NewCluster {
  readonly name: string;
  readonly version: string;
  readonly controlPlane: number;
  readonly workers: number;
}

export async function createCluster(lab: ClustersLab, { name, version, controlPlane, workers }: NewCluster) {
  await lab.client.query(
    ({ clusters }) =>
      clusters.createCluster({
        name,
        k8sVersion: version,
        controlPlaneNodes: { instanceType: "standard", count: controlPlane },
        workerNodePools: [{ name: "workers", instanceType: "standard", count: workers }],
      }),
    ({ reason }, wasCut) => wasCut && reason === "CLUSTER_EXISTS",
  );
}

/** Changes the spec of the pool `workers` without waiting. */
export async function scaleWorkers(lab: ClustersLab, count: number): Promise<void> {
  const nodePools = [{ name: "workers", count }];
  await lab.client.query(({ clusters }) => clusters.scaleNodePool({ clusterName: first, nodePools }));
}

export async function scaleTo(t: Test, lab: ClustersLab, count: number): Promise<void> {
  await scaleWorkers(lab, count);
  await lab.untilSettled(t, first, `scale to ${count}`);
  const kubectl = await lab.kubectlOf(first);
  t.match(
    await nodesOf(kubectl),
    Array.from({ length: count + 1 }, () => ({ isReady: true })),
  );
  t.equal(lab.machines.owned().length, count + 1);
  await queryWeb(kubectl, 1);
}
