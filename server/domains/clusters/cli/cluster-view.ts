import type { GetClusterNodesStatusReply } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterState } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { timeText } from "../../../cli/table/time-text.ts";
import type { View } from "../../../cli/table/view.ts";
import { poolName, poolsOf, statusText } from "./cluster-text.ts";

/** Shows a cluster with its pools and the nodes that it has reported. */
export function clusterView(state: ClusterState, { machines }: GetClusterNodesStatusReply): View {
  return {
    facts: [
      ["name", state.name],
      ["status", statusText(state)],
      ["message", state.statusMessage],
      ["version", versionText(state)],
      ["endpoint", state.endpoint],
      ["created", timeText(state.createdAt)],
    ],
    tables: [
      {
        head: ["POOL", "TYPE", "DESIRED", "MACHINES", "NODES"],
        rows: poolsOf(state).map((pool) => [
          poolName(pool.name),
          pool.instanceType,
          ...[pool.wanted, pool.machines, pool.ready].map(String),
        ]),
      },
      {
        head: ["NODE", "STATUS", "VERSION", "SYSTEM ID", "MAAS", "ADDRESS"],
        rows: machines.map((machine) => [
          machine.maasHostname,
          machine.k8sNodeStatus,
          machine.k8sVersion,
          machine.maasSystemId,
          machine.maasNodeStatus,
          machine.maasIPAddr,
        ]),
      },
    ],
  };
}

function versionText({ k8sVersion, controlPlaneVersion }: ClusterState): string {
  return k8sVersion === controlPlaneVersion
    ? k8sVersion
    : `${k8sVersion} (control plane ${controlPlaneVersion})`;
}
