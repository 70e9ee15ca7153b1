import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { ClusterStatus, type GetClusterNodesStatusReply } from "../../gen/cnct/kaas/api/api_pb.ts";
import {
  type ClusterMachine,
  ClusterMachineState,
  type ClusterPool,
  type ClusterState,
  type StrayMachine,
} from "../../gen/hostplane/v1/cluster_pb.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { textTable } from "../cli/table/text-table.ts";

/** Returns the status name as in the API, which is used everywhere else too. */
export function clusterStatusText(status: ClusterStatus): string {
  return nameIn(ClusterStatus, status);
}

/** Formats clusters as a table. */
export function clusterListLines(clusters: readonly ClusterState[]): string[] {
  const rows = clusters.map((cluster) => [
    cluster.name,
    clusterStatusText(cluster.status),
    cluster.k8sVersion,
    cluster.endpoint,
    nodesText(poolsOf(cluster)),
    printableLine(cluster.statusMessage),
  ]);
  return textTable(["NAME", "STATUS", "VERSION", "ENDPOINT", "NODES", "MESSAGE"], rows);
}

/** Formats everything known about a cluster: its spec, and a table of its nodes. */
export function clusterLines(cluster: ClusterState, nodes: GetClusterNodesStatusReply): string[] {
  const facts: readonly (readonly [string, string])[] = [
    ["name", cluster.name],
    ["status", clusterStatusText(cluster.status)],
    ["message", cluster.statusMessage],
    ["version", versionText(cluster)],
    ["endpoint", cluster.endpoint],
    ["created", timeText(cluster.createdAt)],
  ];
  const known = facts.flatMap(([what, value]) =>
    value === "" ? [] : [printableLine(`${what.padEnd(8)} ${value}`)],
  );
  const pools = poolsOf(cluster).map((pool) => [
    poolName(pool.name),
    pool.instanceType,
    String(pool.wanted),
    String(pool.machines),
    String(pool.ready),
  ]);
  const rows = nodes.machines.map((machine) =>
    [
      machine.maasHostname,
      machine.k8sNodeStatus,
      machine.k8sVersion,
      machine.maasSystemId,
      machine.maasNodeStatus,
      machine.maasIPAddr,
    ].map(printableLine),
  );
  return [
    ...known,
    "",
    ...textTable(["POOL", "TYPE", "DESIRED", "MACHINES", "NODES"], pools),
    "",
    ...textTable(["NODE", "STATUS", "VERSION", "SYSTEM ID", "MAAS", "ADDRESS"], rows),
  ];
}

/** Formats machines as a table, with the history below each machine if `hasHistory` is set. */
export function machineLines(machines: readonly ClusterMachine[], hasHistory: boolean): string[] {
  const head = ["POOL", "STATE", "HOSTNAME", "SYSTEM ID", "ADDRESS", "VERSION", "SINCE", "MESSAGE"];
  const rows = machines.map((machine) =>
    [
      poolName(machine.pool),
      machineStateText(machine.state),
      machine.hostname,
      machine.systemId,
      machine.ipAddress,
      machine.k8sVersion,
      timeText(machine.since),
      machine.message,
    ].map(printableLine),
  );
  const [first = "", ...lines] = textTable(head, rows);
  return [
    first,
    ...lines.flatMap((line, index) => [line, ...(hasHistory ? historyLines(machines[index]) : [])]),
  ];
}

function historyLines(machine: ClusterMachine | undefined): string[] {
  return (machine?.history ?? []).map((event) =>
    printableLine(
      `  ${timeText(event.at)} ${machineStateText(event.state)} ${event.systemId} ${event.message}`.trimEnd(),
    ),
  );
}

/** Formats stray machines as a table. */
export function strayLines(strays: readonly StrayMachine[]): string[] {
  const head = ["SYSTEM ID", "HOSTNAME", "MAAS", "CLUSTER", "POOL", "ADOPTABLE", "MESSAGE"];
  const rows = strays.map((stray) =>
    [
      stray.systemId,
      stray.hostname,
      stray.maasStatus,
      stray.cluster,
      stray.pool,
      stray.adoptable ? "yes" : "no",
      stray.message,
    ].map(printableLine),
  );
  return textTable(head, rows);
}

/** Formats a cluster as one line, for `cluster watch`. */
export function clusterSummary(cluster: ClusterState): string {
  const { name, status, statusMessage } = cluster;
  const rest = statusMessage === "" ? "" : `: ${statusMessage}`;
  return printableLine(`${name} ${clusterStatusText(status)} ${nodesText(poolsOf(cluster))}${rest}`);
}

function machineStateText(state: ClusterMachineState): string {
  return nameIn(ClusterMachineState, state).toLowerCase();
}

function nameIn(values: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(values).find(([, each]) => each === value)?.[0] ?? String(value);
}

function poolsOf({ controlPlane, pools }: ClusterState): readonly ClusterPool[] {
  return [...(controlPlane === undefined ? [] : [controlPlane]), ...pools];
}

function nodesText(pools: readonly ClusterPool[]): string {
  const sum = (pick: (pool: ClusterPool) => number) => pools.reduce((total, pool) => total + pick(pool), 0);
  return `${sum(({ ready }) => ready)}/${sum(({ wanted }) => wanted)}`;
}

function versionText({ k8sVersion, controlPlaneVersion }: ClusterState): string {
  return k8sVersion === controlPlaneVersion
    ? k8sVersion
    : `${k8sVersion} (control plane ${controlPlaneVersion})`;
}

function poolName(name: string): string {
  return name === "" ? "control plane" : name;
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
