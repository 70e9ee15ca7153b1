import type { Test } from "tap";
import { ClusterStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import {
  type ClusterMachine,
  ClusterMachineState,
  type ClusterState,
} from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { ClustersClient } from "./clusters-client.ts";
import type { ClusterSpec } from "./clusters-life.ts";
import type { ClustersWorld } from "./clusters-world.ts";

export interface CalmOptions {
  readonly world: ClustersWorld;
  readonly client: ClustersClient;
  /** All clusters that should exist. */
  readonly expected: readonly ClusterSpec[];
}

/** The state of a cluster as the gateway reports it. */
interface Found {
  readonly state: ClusterState;
  /** Released machines. */
  readonly former: readonly ClusterMachine[];
  readonly machines: readonly ClusterMachine[];
}

/** Asserts that every cluster matches its spec exactly, and that MAAS, the clusters themselves and the gateway agree. */
export async function assertCalm(t: Test, { world, client, expected }: CalmOptions): Promise<void> {
  const found = await readClusters(client);
  t.same(
    [...found.keys()].toSorted(),
    expected.map(({ name }) => name).toSorted(),
    "exactly the desired clusters exist",
  );
  for (const each of expected) {
    t.same(shapeOf(found.get(each.name)), specShape(each), `${each.name} matches its spec`);
  }
  await assertNodeStatuses(t, client, found);
  assertMaas(t, world, found);
  assertNodes(t, world, found);
  const strays = await client.query(({ machines }) => machines.listStrays({}));
  t.same(
    strays?.strays.map(({ systemId, message }) => `${systemId}: ${message}`),
    [],
    "there are no strays",
  );
  t.equal(strays?.reportOnlyBecause, "");
}

async function readClusters(client: ClustersClient): Promise<ReadonlyMap<string, Found>> {
  const found = new Map<string, Found>();
  for (const state of await client.states()) {
    const answer = await client.query(({ machines }) => machines.listMachines({ cluster: state.name }));
    const all = answer?.machines ?? [];
    const isFormer = (each: ClusterMachine) => each.state === ClusterMachineState.RELEASED;
    found.set(state.name, {
      state,
      machines: all.filter((each) => !isFormer(each)),
      former: all.filter(isFormer),
    });
  }
  return found;
}

function specShape({ version, controlPlane, pools }: ClusterSpec) {
  const count = (number: number) => Array.from({ length: number }, () => `JOINED ${version}`);
  const ofPools = [...pools].map(([name, pool]) => [name, count(pool.count)] as const);
  return { status: "RUNNING", machines: Object.fromEntries([["", count(controlPlane)], ...ofPools]) };
}

function shapeOf(found: Found | undefined) {
  const { state, machines = [] } = found ?? {};
  const groups = Map.groupBy(machines, ({ pool }) => pool);
  const words = (each: ClusterMachine) =>
    `${nameOf(ClusterMachineState, each.state)} ${each.k8sVersion.replace(/^v/, "")}${each.message === "" ? "" : ` ${each.message}`}`;
  return {
    status: state === undefined ? "gone" : nameOf(ClusterStatus, state.status),
    machines: Object.fromEntries([...groups].map(([pool, all]) => [pool, all.map(words)])),
  };
}

function nameOf(numbers: Readonly<Record<string, number>>, expected: number): string {
  return Object.entries(numbers).find(([, number]) => number === expected)?.[0] ?? String(expected);
}

async function assertNodeStatuses(
  t: Test,
  client: ClustersClient,
  found: ReadonlyMap<string, Found>,
): Promise<void> {
  for (const [name, { machines }] of found) {
    const answer = await client.query(({ clusters }) =>
      clusters.getClusterNodesStatus({ clusterName: name }),
    );
    t.same(
      answer?.machines
        .map((each) => `${each.maasSystemId} ${each.k8sNodeStatus} ${each.maasNodeStatus}`)
        .toSorted(),
      machines.map(({ systemId }) => `${systemId} Ready Deployed`).toSorted(),
      `${name}: its nodes, as reported by MAAS and Kubernetes`,
    );
  }
}

function assertMaas(t: Test, { maas, account }: ClustersWorld, found: ReadonlyMap<string, Found>): void {
  const all = [...found].flatMap(([name, { machines }]) =>
    machines.map(({ systemId, id }) => `${systemId} deployed ${account} ${name} ${id}`),
  );
  const owned = maas.region
    .machines()
    .filter(({ owner }) => owner !== undefined)
    .map(({ systemId, status, owner, annotations }) => {
      const { "hostplane-cluster": name = "", "hostplane-slot": slot = "" } = annotations;
      return `${systemId} ${status} ${owner} ${name} ${slot}`;
    });
  t.same(owned.toSorted(), all.toSorted(), "MAAS's list of machines and the gateway's agree");
  const free = maas.region.machines().filter(({ owner }) => owner === undefined);
  const broken = free.filter(({ status }) => status === "broken");
  t.same(
    free.filter(({ status }) => status !== "ready" && status !== "broken").map(({ hostname }) => hostname),
    [],
    "every other machine is free",
  );
  t.comment(
    `${owned.length} machines in clusters, ${free.length - broken.length} ready, ${broken.length} marked as broken`,
  );
  t.same(
    [...maas.region.reservations.keys()].toSorted(),
    [...found.values()].map(({ state }) => state.endpoint.replace(/:\d+$/, "")).toSorted(),
    "only existing clusters have reserved addresses",
  );
}

function assertNodes(t: Test, { maas, workload }: ClustersWorld, found: ReadonlyMap<string, Found>): void {
  t.same(
    workload
      .clusters()
      .map(({ name }) => name)
      .toSorted(),
    [...found.keys()].toSorted(),
    "no deleted cluster is still running",
  );
  for (const [name, { machines, former }] of found) {
    const cluster = workload.cluster(name);
    for (const each of former) {
      if (!machines.some(({ hostname }) => hostname === each.hostname) && cluster?.nodes.has(each.hostname)) {
        t.comment(
          `${name} used to have ${each.hostname}: ${each.history.map(({ message }) => message).join("; ")}`,
        );
      }
    }
    const nodes = [...(cluster?.nodes.values() ?? [])].map(
      (node) =>
        `${node.name} ${node.notReady === undefined && !node.boot.isGone ? "ready" : "not ready"}${node.isUnschedulable ? " cordoned" : ""}`,
    );
    const hostnames = machines.map(({ systemId }) => maas.region.machine(systemId)?.hostname.toLowerCase());
    t.same(
      nodes.toSorted(),
      hostnames.map((each) => `${each} ready`).toSorted(),
      `${name}: its nodes are its machines`,
    );
    t.same(
      cluster?.members.map((member) => member.name).toSorted(),
      machines
        .filter(({ pool }) => pool === "")
        .map(({ hostname }) => hostname.toLowerCase())
        .toSorted(),
      `${name}: its etcd members are the control plane's machines`,
    );
  }
}
