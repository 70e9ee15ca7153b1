import { enumToJson, type MessageInitShape } from "@bufbuild/protobuf";
import { oncePerObject } from "../../../../adapters/host/once-per-object.ts";
import { ClusterStatus, ClusterStatusSchema } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterStateSchema } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import {
  count,
  type InventorySource,
  type Resource,
  type ResourceHealth,
  time,
} from "../../../domain/inventory-source.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type { ClusterMessages, ClusterStates } from "../state/cluster-states.ts";
import { clusterResourceTypes } from "./resource-types.ts";

const healthOf: Readonly<Record<string, ResourceHealth>> = {
  PROVISIONING: "ok",
  RUNNING: "ok",
  RECONCILING: "degraded",
  STOPPING: "ok",
  ERROR: "failed",
  DEGRADED: "degraded",
};

/** The Kubernetes clusters, as they are in the store: MAAS is not queried. */
export function createClusterResources(states: Pick<ClusterStates, "read" | "subscribe">): InventorySource {
  const resourcesOf = oncePerObject((all: ClusterMessages) => [...all.values()].map(resourceOf));
  return {
    ...clusterResourceTypes,
    async read(signal) {
      const readAtMs = performance.now();
      return { resources: resourcesOf(await states.read(signal)), readAtMs };
    },
    subscribe: (onChange) => states.subscribe(onChange),
  };
}

function resourceOf(cluster: MessageInitShape<typeof ClusterStateSchema>): Resource {
  const {
    name = "",
    status = ClusterStatus.STATUS_UNSPECIFIED,
    k8sVersion = "",
    endpoint = "",
    statusMessage = "",
    controlPlaneVersion = "",
    createdAt,
  } = cluster;
  const pools = [...[cluster.controlPlane ?? []].flat(), ...(cluster.pools ?? [])];
  const state = String(enumToJson(ClusterStatusSchema, status));
  const sum = (of: (pool: (typeof pools)[number]) => number | undefined) =>
    pools.reduce((total, pool) => total + (of(pool) ?? 0), 0);
  return {
    name: clusterResource(name),
    type: "cluster",
    title: name,
    state,
    health: healthOf[state] ?? "unknown",
    figures: [
      count(
        "wanted_machines",
        sum(({ wanted }) => wanted),
      ),
      count(
        "machines",
        sum(({ machines }) => machines),
      ),
      count(
        "ready_machines",
        sum(({ ready }) => ready),
      ),
      ...(createdAt === undefined ? [] : [time("created", Number(createdAt.seconds ?? 0n) * 1000)]),
    ],
    labels: { k8s_version: k8sVersion, ...(endpoint === "" ? {} : { endpoint }) },
    properties: {
      ...(statusMessage === "" ? {} : { message: statusMessage }),
      ...(controlPlaneVersion === "" ? {} : { control_plane_version: controlPlaneVersion }),
    },
    ...(statusMessage === "" || healthOf[state] === "ok" ? {} : { reason: statusMessage }),
  };
}
