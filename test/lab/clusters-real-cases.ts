import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import tap, { type Test, test } from "tap";
import { ClusterMachineState } from "../../gen/hostplane/v1/cluster_pb.ts";
import { isSettled } from "../chaos/clusters-client.ts";
import { type ClustersLab, startClustersLab } from "./clusters-real-lab.ts";
import { type Kubectl, untilKubectl } from "./kubectl.ts";
import type { KubernetesImage } from "./kubernetes-image.ts";
import { askWeb, commentNodes, deployWeb, nodesOf } from "./kubernetes-pods.ts";

/**
 * A program that clusters-real.test.ts runs in the machines' network. A case leaves the cluster settled for the next one.
 * Variables: KUBELAB_DIR, KUBELAB_IMAGES (newest first), KUBELAB_CASES (names, all unless set).
 */
const directory = process.env.KUBELAB_DIR ?? "";
const images: readonly KubernetesImage[] = JSON.parse(process.env.KUBELAB_IMAGES ?? "[]");
const chosen = process.env.KUBELAB_CASES?.split(",");
const newest = images[0]?.version ?? "";
const oldest = images.at(-1)?.version ?? "";
const patienceMs = 900_000;
const name = "demo";

/** Boundaries at which the gateway is killed, in the order in which a machine that comes and goes meets them. */
const boundariesUp = [
  ...["after write candidate", "after maas.allocate", "after maas.annotate", "before maas.deploy"],
  ...["after maas.deploy", "before write joined"],
];
const boundariesDown = [
  ...["after workload.cordon", "after workload.deleteNode", "after maas.release", "before write released"],
];

tap.setTimeout(14_400_000);

const runs = (what: string) => chosen === undefined || chosen.includes(what);

test("clusters of real machines", { timeout: 14_400_000 }, async (t) => {
  const lab = await startClustersLab(t, { directory, images, machines: 8, patienceMs });
  await lab.start();
  const cases: readonly (readonly [string, string, (t: Test, lab: ClustersLab) => Promise<void>])[] = [
    ["create", "one control plane and two workers become a cluster", create],
    ["pods", "a pod answers by a service across nodes", pods],
    ["scale", "a pool grows and shrinks", scale],
    ["pool", "a pool is added and deleted", pool],
    ["upgrade", "an upgrade by a minor version keeps pods running", upgrade],
    ["worker", "a worker that is dead is named, and replaced when MAAS has it broken", deadWorker],
    ["image", "a machine whose image lacks a file fails within a minute and never joins", imageLacksFile],
    ["reboot", "every machine reboots", reboot],
    ["kill", "the gateway is killed at ten points of a machine's life", kill],
    ["delete", "a deleted cluster leaves no machine", (t) => remove(t, lab, name)],
    ["three", "a control plane of three survives the loss of the machine with its address", three],
  ];
  for (const [what, title, run] of cases) {
    if (runs(what)) {
      await t.test(title, { timeout: 3_600_000 }, (t) => run(t, lab));
    }
  }
});

async function create(t: Test, lab: ClustersLab): Promise<void> {
  await createCluster(lab, name, 1, 2);
  await lab.untilSettled(t, name, "create 1+2");
  const kubectl = await lab.kubectlOf(name);
  const nodes = await nodesOf(kubectl);
  t.equal(nodes.length, 3);
  t.ok(nodes.every(({ isReady, version }) => isReady && version === oldest));
  await commentNodes(t, kubectl);
}

async function pods(t: Test, lab: ClustersLab): Promise<void> {
  const kubectl = await lab.kubectlOf(name);
  await deployWeb(kubectl, join(directory, "web.json"), 2);
  const nodes = await askWeb(kubectl, 2);
  t.equal(nodes.length, 2, `pods on ${nodes.join(" and ")} answer`);
}

async function scale(t: Test, lab: ClustersLab): Promise<void> {
  await scaleTo(t, lab, 3);
  await scaleTo(t, lab, 2);
  t.equal((await askWeb(await lab.kubectlOf(name), 1)).length, 1, "the service answers still");
}

async function pool(t: Test, lab: ClustersLab): Promise<void> {
  const labels = [{ name: "tier", value: "gold" }];
  const workerNodePools = [{ name: "more", instanceType: "standard", count: 1, labels }];
  await lab.client.ask(({ clusters }) => clusters.addNodePool({ clusterName: name, workerNodePools }));
  await lab.untilSettled(t, name, "add a pool");
  const kubectl = await lab.kubectlOf(name);
  const named = await kubectl("get", "nodes", "--selector=tier=gold", "--output=name");
  t.equal(named.trim().split("\n").length, 1, named.trim());
  await lab.client.ask(({ clusters }) =>
    clusters.deleteNodePool({ clusterName: name, nodePoolNames: ["more"] }),
  );
  await lab.untilSettled(t, name, "delete a pool");
  t.equal((await nodesOf(kubectl)).length, 3);
}

async function upgrade(t: Test, lab: ClustersLab): Promise<void> {
  if (newest === oldest) {
    t.pass("there is an image of one version alone");
    return;
  }
  const kubectl = await lab.kubectlOf(name);
  const { clusters } = (await lab.client.ask(async (clients) => clients)) ?? {};
  const offered = await clusters?.getUpgradeClusterInformation({ name });
  t.match(JSON.stringify(offered), newest);
  const failures = watchWeb(kubectl);
  await lab.client.ask((clients) => clients.clusters.upgradeCluster({ name, version: newest }));
  await lab.untilSettled(t, name, `upgrade from ${oldest} to ${newest}`);
  const { asked, failed } = await failures.end();
  t.comment(`during the upgrade ${failed} of ${asked} requests to the service failed`);
  const nodes = await nodesOf(kubectl);
  t.same(
    nodes.map(({ version, isReady }) => [version, isReady]),
    nodes.map(() => [newest, true]),
  );
  t.ok((await askWeb(kubectl, 2)).length >= 2, "pods answer on new machines");
  await commentNodes(t, kubectl);
}

async function deadWorker(t: Test, lab: ClustersLab): Promise<void> {
  const [victim] = (await lab.machinesOf(name)).filter(({ pool }) => pool === "workers");
  const hostname = victim?.hostname ?? "";
  const beganMs = performance.now();
  await lab.machines.kill(hostname);
  const seen = await lab.until(name, (state) => state?.statusMessage.includes(hostname) === true);
  t.comment(`named after ${seconds(beganMs)}: ${seen?.statusMessage}`);
  lab.machines.maas.region.change(victim?.systemId ?? "", {
    kind: "markBroken",
    comment: "its power is gone",
  });
  await lab.until(name, (state) => state !== undefined && !isSettled(state));
  await lab.untilSettled(t, name, "replace a worker that MAAS has broken");
  const nodes = await nodesOf(await lab.kubectlOf(name));
  t.equal(nodes.length, 3);
  t.notOk(
    nodes.some((node) => node.name === hostname),
    `${hostname} is no node any more`,
  );
}

async function imageLacksFile(t: Test, lab: ClustersLab): Promise<void> {
  for (const defect of [{ file: "usr/bin/kubelet" }, { containerImage: await kubeProxyOf(lab) }]) {
    const lacking = defect.file?.split("/").at(-1) ?? defect.containerImage ?? "";
    lab.machines.setDefect(defect);
    await scaleSpec(lab, 3);
    const bootedMs = await untilBooted(lab);
    const failed = await untilFailure(lab, lacking);
    lab.machines.setDefect(undefined);
    t.ok(
      performance.now() - bootedMs < 60_000,
      `named ${seconds(bootedMs)} after its start: ${failed.message}`,
    );
    t.notOk(failed.states.includes(ClusterMachineState.JOINED), "it never counted as joined");
    await lab.untilSettled(t, name, "replace the machine by one with a complete image");
    await scaleTo(t, lab, 2);
  }
}

async function reboot(t: Test, lab: ClustersLab): Promise<void> {
  const beganMs = performance.now();
  const hostnames = lab.machines.owned().map(({ hostname }) => hostname);
  await Promise.all(hostnames.map((hostname) => lab.machines.reboot(hostname)));
  const kubectl = await lab.kubectlOf(name);
  await untilKubectl(
    () => kubectl("get", "nodes", "--output=name"),
    () => true,
    300_000,
  );
  await untilReady(kubectl, 3);
  t.comment(`all nodes are ready ${seconds(beganMs)} after the reboot`);
  await lab.untilSettled(t, name, "settled after the reboot");
  t.ok((await askWeb(kubectl, 1)).length > 0, "the service answers again");
}

async function kill(t: Test, lab: ClustersLab): Promise<void> {
  lab.gateway()?.signal("SIGKILL");
  await lab.gateway()?.ended;
  for (const [count, boundaries] of [
    [3, boundariesUp],
    [2, boundariesDown],
  ] as const) {
    for (const [index, boundary] of boundaries.entries()) {
      const gateway = await lab.start({ boundary, visit: 1 });
      if (index === 0) {
        await scaleSpec(lab, count);
      }
      const end = await gateway?.ended;
      t.ok(gateway === undefined || end?.isOwnDoing, `killed ${boundary}`);
    }
    await lab.start();
    await lab.untilSettled(
      t,
      name,
      `scale to ${count} by a gateway that was killed ${boundaries.length} times`,
    );
    const nodes = await nodesOf(await lab.kubectlOf(name));
    t.equal(nodes.length, count + 1);
    t.equal(lab.machines.owned().length, count + 1, "no machine is lost");
    lab.gateway()?.signal("SIGKILL");
    await lab.gateway()?.ended;
  }
  await lab.start();
}

async function remove(t: Test, lab: ClustersLab, cluster: string): Promise<void> {
  const beganMs = performance.now();
  await lab.client.ask(({ clusters }) => clusters.deleteCluster({ name: cluster }));
  await lab.until(cluster, (state) => state === undefined);
  await lab.machines.idle();
  t.comment(`deleted in ${seconds(beganMs)}`);
  t.same(lab.machines.owned(), [], "no machine is owned");
}

async function three(t: Test, lab: ClustersLab): Promise<void> {
  const cluster = "three";
  await createCluster(lab, cluster, 3, 1);
  const { endpoint } = await lab.untilSettled(t, cluster, "create 3+1");
  const kubectl = await lab.kubectlOf(cluster);
  await commentNodes(t, kubectl);
  const address = endpoint.split(":")[0] ?? "";
  const members = (await lab.machinesOf(cluster)).filter(({ pool }) => pool === "");
  const holds = await Promise.all(
    members.map(async ({ hostname }) =>
      (await lab.machines.run(hostname, "ip", "-o", "addr")).includes(`${address}/32`),
    ),
  );
  t.equal(holds.filter(Boolean).length, 1, `one machine holds ${address}`);
  const holder = members[holds.indexOf(true)];
  const beganMs = performance.now();
  await lab.machines.kill(holder?.hostname ?? "");
  await untilKubectl(
    () => kubectl("get", "nodes", "--output=name"),
    () => true,
    120_000,
  );
  t.comment(`the API answers at ${address} ${seconds(beganMs)} after its holder died`);
  lab.machines.maas.region.change(holder?.systemId ?? "", {
    kind: "markBroken",
    comment: "its power is gone",
  });
  await lab.until(cluster, (state) => state !== undefined && !isSettled(state));
  await lab.untilSettled(t, cluster, "replace a machine of the control plane");
  await commentNodes(t, kubectl);
  t.equal((await nodesOf(kubectl)).filter(({ isReady }) => isReady).length, 4);
  await remove(t, lab, cluster);
}

async function createCluster(lab: ClustersLab, cluster: string, controlPlane: number, workers: number) {
  await lab.client.ask(
    ({ clusters }) =>
      clusters.createCluster({
        name: cluster,
        k8sVersion: cluster === name ? oldest : newest,
        controlPlaneNodes: { instanceType: "standard", count: controlPlane },
        workerNodePools: [{ name: "workers", instanceType: "standard", count: workers }],
      }),
    ({ reason }, wasCut) => wasCut && reason === "CLUSTER_EXISTS",
  );
}

async function scaleSpec(lab: ClustersLab, count: number): Promise<void> {
  const nodePools = [{ name: "workers", count }];
  await lab.client.ask(({ clusters }) => clusters.scaleNodePool({ clusterName: name, nodePools }));
}

async function scaleTo(t: Test, lab: ClustersLab, count: number): Promise<void> {
  await scaleSpec(lab, count);
  await lab.untilSettled(t, name, `scale to ${count}`);
  const nodes = await nodesOf(await lab.kubectlOf(name));
  t.same(
    nodes.map(({ isReady }) => isReady),
    Array.from({ length: count + 1 }, () => true),
  );
}

async function untilReady(kubectl: Kubectl, count: number): Promise<void> {
  const ready = async () => JSON.stringify((await nodesOf(kubectl)).filter(({ isReady }) => isReady));
  await untilKubectl(ready, (text) => JSON.parse(text).length === count, 300_000);
}

/** Waits until a worker that has not joined yet has started; gives when. */
async function untilBooted(lab: ClustersLab): Promise<number> {
  await until("no machine has booted", async () => {
    const machines = await lab.machinesOf(name);
    return machines.find(({ state }) => state === ClusterMachineState.BOOTED);
  });
  return performance.now();
}

/** Waits until a machine has failed with a message that names something; gives the states that it came into. */
async function untilFailure(lab: ClustersLab, named: string) {
  return until(`no machine failed for ${named}`, async () => {
    const reply = await lab.client.ask((clients) => clients.machines.listMachines({ cluster: name }));
    for (const { history } of reply?.machines ?? []) {
      const failed = history.find(({ message }) => message.includes(named));
      if (failed !== undefined) {
        return { message: failed.message, states: history.map(({ state }) => state) };
      }
    }
    return undefined;
  });
}

async function until<T>(complaint: string, find: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) {
      return found;
    }
    if (performance.now() > endMs) {
      throw new Error(complaint);
    }
    await wait(300);
  }
}

async function kubeProxyOf(lab: ClustersLab): Promise<string> {
  const [worker] = (await lab.machinesOf(name)).filter(({ pool }) => pool === "workers");
  const ctr = ["ctr", "--namespace", "k8s.io", "images", "list", "--quiet"];
  const names = await lab.machines.run(worker?.hostname ?? "", ...ctr);
  return names.split("\n").find((each) => /kube-proxy:/.test(each)) ?? "";
}

/** Asks the service again and again, until ended. */
function watchWeb(kubectl: Kubectl) {
  let isOver = false;
  let asked = 0;
  let failed = 0;
  const asking = (async () => {
    while (!isOver) {
      asked += 1;
      await askWeb(kubectl, 1).catch(() => {
        failed += 1;
      });
    }
  })();
  return {
    async end() {
      isOver = true;
      await asking;
      return { asked, failed };
    },
  };
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}
