import type { Test } from "tap";
import { ClusterMachineState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { isSettled } from "../../chaos/clusters/clusters-client.ts";
import { createCluster, first, removeCluster, scaleTo, scaleWorkers } from "./clusters-real-changes.ts";
import { type ClustersLab, secondsSince } from "./clusters-real-lab.ts";
import { untilKubectl } from "./kubectl.ts";
import type { Defect } from "./kubernetes-machines.ts";
import { commentNodes, type NodeFacts, nodesOf, queryWeb } from "./kubernetes-pods.ts";

/** Boundaries at which the gateway is killed, in the order in which a joining and a leaving machine reach them. */
const boundariesUp = [
  ...["after write candidate", "after maas.allocate", "after maas.annotate", "before maas.deploy"],
  ...["after maas.deploy", "before write joined"],
];
const boundariesDown = [
  ...["after workload.cordon", "after workload.deleteNode", "after maas.release", "before write released"],
];
const apiPatienceMs = 300_000;

/** A machine that does not respond may come back: the gateway reports it, and an administrator of MAAS decides. */
export async function loseWorker(t: Test, lab: ClustersLab): Promise<void> {
  const [victim] = (await lab.machinesOf(first)).filter(({ pool }) => pool === "workers");
  const { hostname = "", systemId = "" } = victim ?? {};
  const beganMs = performance.now();
  await lab.machines.kill(hostname);
  const seen = await lab.until(first, (state) => state?.statusMessage.includes(hostname) === true);
  t.comment(`${hostname} is reported after ${secondsSince(beganMs)}: ${seen?.statusMessage}`);
  await replaceBroken(t, lab, first, systemId);
  const nodes = await nodesOf(await lab.kubectlOf(first));
  t.equal(nodes.length, 3);
  t.notOk(
    nodes.some(({ name }) => name === hostname),
    `${hostname} is no longer a node`,
  );
}

async function replaceBroken(t: Test, lab: ClustersLab, cluster: string, systemId: string): Promise<void> {
  lab.machines.maas.region.change(systemId, { kind: "markBroken", comment: "its power is gone" });
  await lab.until(cluster, (state) => state !== undefined && !isSettled(state));
  await lab.untilSettled(t, cluster, "replace a machine that MAAS has broken");
}

export async function spoilImage(t: Test, lab: ClustersLab): Promise<void> {
  await joinWith(t, lab, { file: "usr/bin/kubelet" }, "kubelet");
  await joinWith(t, lab, { containerImage: await kubeProxyOf(lab) }, "kube-proxy");
}

/** Adds a worker whose image has a defect, and expects a failure that names the defect. */
async function joinWith(t: Test, lab: ClustersLab, defect: Defect, named: string): Promise<void> {
  lab.machines.setDefect(defect);
  await scaleWorkers(lab, 3);
  await lab.untilMachine(first, ({ state }) => state === ClusterMachineState.BOOTED);
  const bootedMs = performance.now();
  const failed = await lab.untilMachine(first, ({ history }) =>
    history.some(({ message }) => message.includes("failed to become a node") && message.includes(named)),
  );
  const tookMs = performance.now() - bootedMs;
  lab.machines.setDefect(undefined);
  const failure = failed.history.find(({ message }) => message.includes(named));
  t.ok(tookMs < 60_000, `${Math.round(tookMs / 1000)} s after its start: ${failure?.message}`);
  t.notOk(
    failed.history.some(({ state }) => state === ClusterMachineState.JOINED),
    "it never counted as joined",
  );
  await lab.untilSettled(t, first, "replace it with a machine that has a complete image");
  await scaleTo(t, lab, 2);
}

async function kubeProxyOf(lab: ClustersLab): Promise<string> {
  const [worker] = (await lab.machinesOf(first)).filter(({ pool }) => pool === "workers");
  const ctr = ["ctr", "--namespace", "k8s.io", "images", "list", "--quiet"];
  const names = (await lab.machines.run(worker?.hostname ?? "", ...ctr)).split("\n");
  return names.find((each) => each.includes("kube-proxy:")) ?? "";
}

export async function rebootMachines(t: Test, lab: ClustersLab): Promise<void> {
  const beganMs = performance.now();
  const rebootedAtMs = Date.now();
  const hostnames = lab.machines.owned().map(({ hostname }) => hostname);
  await Promise.all(hostnames.map((hostname) => lab.machines.reboot(hostname)));
  const kubectl = await lab.kubectlOf(first);
  // The API server keeps the nodes' old status. Kubernetes times have whole seconds.
  const isBack = ({ isReady, heartbeatAtMs }: NodeFacts) => isReady && heartbeatAtMs >= rebootedAtMs - 1_000;
  const away = async () => JSON.stringify((await nodesOf(kubectl)).filter((node) => !isBack(node)));
  await untilKubectl(away, (text) => text === "[]", apiPatienceMs);
  t.comment(`all nodes are ready ${secondsSince(beganMs)} after the reboot started`);
  await lab.untilSettled(t, first, "settled after the reboot");
  t.ok((await queryWeb(kubectl, 1)).length > 0, "the service responds again");
}

export async function killGateway(t: Test, lab: ClustersLab): Promise<void> {
  await lab.stop();
  for (const [count, boundaries] of [
    [3, boundariesUp],
    [2, boundariesDown],
  ] as const) {
    for (const [index, boundary] of boundaries.entries()) {
      const gateway = await lab.start({ boundary, visit: 1 });
      if (index === 0) {
        await scaleWorkers(lab, count);
      }
      const isOwnDoing = gateway === undefined || (await gateway.ended).isOwnDoing;
      t.ok(isOwnDoing, `killed ${boundary}`);
    }
    await lab.start();
    await lab.untilSettled(
      t,
      first,
      `scale to ${count} with a gateway that was killed ${boundaries.length} times`,
    );
    t.equal((await nodesOf(await lab.kubectlOf(first))).length, count + 1);
    t.equal(lab.machines.owned().length, count + 1, "no machine is lost");
    await lab.stop();
  }
  await lab.start();
}

export async function loseControlPlaneMachine(t: Test, lab: ClustersLab): Promise<void> {
  const name = "three";
  await createCluster(lab, { name, version: lab.versions.newest, controlPlane: 3, workers: 1 });
  const { endpoint } = await lab.untilSettled(t, name, "create 3+1");
  const kubectl = await lab.kubectlOf(name);
  await commentNodes(t, kubectl);
  const holders = await holdersOf(lab, name, endpoint.split(":")[0] ?? "");
  t.equal(holders.length, 1, `one machine holds ${endpoint}`);
  const beganMs = performance.now();
  await lab.machines.kill(holders[0]?.hostname ?? "");
  await untilKubectl(
    () => kubectl("get", "nodes", "--output=name"),
    () => true,
    apiPatienceMs,
  );
  t.comment(`the API responds at ${endpoint} ${secondsSince(beganMs)} after its holder died`);
  await replaceBroken(t, lab, name, holders[0]?.systemId ?? "");
  await commentNodes(t, kubectl);
  t.match(
    await nodesOf(kubectl),
    Array.from({ length: 4 }, () => ({ isReady: true })),
  );
  await removeCluster(t, lab, name);
}

async function holdersOf(lab: ClustersLab, name: string, address: string) {
  const members = (await lab.machinesOf(name)).filter(({ pool }) => pool === "");
  const addresses = members.map(({ hostname }) => lab.machines.run(hostname, "ip", "-oneline", "address"));
  const texts = await Promise.all(addresses);
  return members.filter((_, index) => texts[index]?.includes(` ${address}/`));
}
