import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ClusterStatus,
  type GetClusterNodesStatusReply_MachineStatusSchema,
} from "../../../../gen/cnct/kaas/api/api_pb.ts";
import {
  type ClusterMachineSchema,
  ClusterMachineState,
  type ClusterPoolSchema,
  type ClusterStateSchema,
  type StrayMachineSchema,
} from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { apiHostOf } from "../addresses/api-host.ts";
import { formatEndpoint } from "../bootstrap/api-endpoint.ts";
import { apiServerPort } from "../specs/cluster-settings.ts";
import type {
  ClusterStatusName,
  ClusterSummary,
  MachineEventRecord,
  PoolRecord,
  SlotRecord,
  SlotState,
} from "../store/records.ts";
import type { ClusterWithSlots } from "../store/rows.ts";
import type { StrayFacts } from "../strays/stray-calls.ts";
import type { NodeStatus } from "./node-status.ts";

type MachineStatusSchema = typeof GetClusterNodesStatusReply_MachineStatusSchema;

const statusNumbers: Readonly<Record<ClusterStatusName, ClusterStatus>> = {
  provisioning: ClusterStatus.PROVISIONING,
  running: ClusterStatus.RUNNING,
  reconciling: ClusterStatus.RECONCILING,
  stopping: ClusterStatus.STOPPING,
  error: ClusterStatus.ERROR,
  degraded: ClusterStatus.DEGRADED,
};

const stateNumbers: Readonly<Record<SlotState, ClusterMachineState>> = {
  wanted: ClusterMachineState.WANTED,
  candidate: ClusterMachineState.CANDIDATE,
  allocated: ClusterMachineState.ALLOCATED,
  annotated: ClusterMachineState.ANNOTATED,
  deploying: ClusterMachineState.DEPLOYING,
  booted: ClusterMachineState.BOOTED,
  joined: ClusterMachineState.JOINED,
  draining: ClusterMachineState.DRAINING,
  releasing: ClusterMachineState.RELEASING,
  released: ClusterMachineState.RELEASED,
};

/** Placeholder for the id of a machine that is not chosen yet. Clients of this API know this text. */
const noSystemId = "Waiting for Machine Instantiation...";

/** Returns the fields that ClusterItem and ClusterDetailItem share. */
export function clusterItem({ name, status, message }: Pick<ClusterSummary, "name" | "status" | "message">) {
  return { name, status: statusNumbers[status], statusMessage: message };
}

/** Converts the status of a node to the message of the published API. */
export function machineStatusMessage(node: NodeStatus): MessageInitShape<MachineStatusSchema> {
  const { kubernetes, k8sVersion, systemId = noSystemId, hostname, maas, ipAddress } = node;
  return {
    k8sNodeStatus: kubernetes,
    k8sVersion,
    maasSystemId: systemId,
    maasHostname: hostname,
    maasNodeStatus: maas,
    maasIPAddr: ipAddress,
  };
}

/** Converts a cluster. @param slots its machines that are not released */
export function clusterStateMessage({
  cluster,
  slots,
}: ClusterWithSlots): MessageInitShape<typeof ClusterStateSchema> {
  const { controlPlane, pools } = cluster;
  const host = apiHostOf(cluster, slots);
  return {
    name: cluster.name,
    status: statusNumbers[cluster.status],
    statusMessage: cluster.message,
    k8sVersion: cluster.k8sVersion,
    controlPlaneVersion: cluster.controlPlaneVersion,
    endpoint: host === undefined ? "" : formatEndpoint({ host, port: apiServerPort }),
    controlPlane: poolMessage("", controlPlane, ofPool(slots, undefined)),
    pools: pools.map((pool) => poolMessage(pool.name, pool, ofPool(slots, pool.name))),
    createdAt: timestampFromMs(cluster.createdAtMs),
    generation: BigInt(cluster.generation),
    settledGeneration: BigInt(cluster.settledGeneration),
  };
}

/** Converts a machine. @param events of this machine and others */
export function machineMessage(
  slot: SlotRecord,
  events: readonly MachineEventRecord[],
): MessageInitShape<typeof ClusterMachineSchema> {
  return {
    id: slot.uid,
    pool: slot.pool ?? "",
    state: stateNumbers[slot.state],
    message: slot.message,
    systemId: slot.systemId ?? "",
    hostname: slot.hostname ?? "",
    ipAddress: slot.ipAddress ?? "",
    k8sVersion: slot.k8sVersion,
    since: timestampFromMs(slot.stateSinceMs),
    history: events.map(({ atMs, state, message, systemId }) => ({
      at: timestampFromMs(atMs),
      state: stateNumbers[state],
      message,
      systemId: systemId ?? "",
    })),
  };
}

/** Converts a stray: a machine of the gateway's MAAS account that no cluster knows. */
export function strayMessage(stray: StrayFacts): MessageInitShape<typeof StrayMachineSchema> {
  const { systemId, hostname, maasStatus, cluster, pool, isOurs, isAdoptable, message } = stray;
  return {
    systemId,
    hostname,
    maasStatus,
    cluster: cluster ?? "",
    pool: pool ?? "",
    ours: isOurs,
    adoptable: isAdoptable,
    message,
  };
}

function ofPool(slots: readonly SlotRecord[], pool: string | undefined): readonly SlotRecord[] {
  return slots.filter(
    (slot) => slot.pool === pool && slot.state !== "draining" && slot.state !== "releasing",
  );
}

function poolMessage(
  name: string,
  { instanceType, count }: Omit<PoolRecord, "name">,
  slots: readonly SlotRecord[],
): MessageInitShape<typeof ClusterPoolSchema> {
  return {
    name,
    instanceType,
    wanted: count,
    machines: slots.length,
    ready: slots.filter(({ state }) => state === "joined").length,
  };
}
