import { Cluster } from "../../gen/cnct/kaas/api/api_pb.ts";
import { OperationsService } from "../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../gen/proto/lvmd_pb.ts";
import type { CallGateway } from "./call-gateway.ts";

/** Something that the demo world does once, by calls as a user would make them. */
export interface Deed {
  /** As an infinitive, for the log. */
  readonly what: string;
  /** The operation that it begins. If the store has one, the deed was done at an earlier start, and is not repeated. */
  readonly once?: { readonly kind: string; readonly resource: string };
  /** Whether it waits for the first request of a user. */
  readonly needsVisitor?: boolean;
  run(gateway: CallGateway): Promise<unknown>;
}

const nvme = "volumeGroups/sandbox-nvme-vg/volumes";

/**
 * What happens after the start, in this order. Backups and clusters end with the process, so every start makes them again; the
 * operations that fail or need attention stay in the store.
 */
export const worldDeeds: readonly Deed[] = [
  {
    ...startOf("cad-desktops-2"),
    what: "start a VM whose GPU is in use",
  },
  backupOf("build-cache", { isOnce: true }),
  backupOf("mail-spool", { isOnce: true }),
  backupOf("db-orders-data"),
  backupOf("db-users-data"),
  backupOf("git-repositories"),
  // Takes minutes.
  backupOf("db-warehouse-data"),
  startOf("build-runners-1"),
  clusterOf("shop-production", "standard", 2),
  clusterOf("model-training", "gpu", 1),
];

function startOf(id: string): Deed {
  return {
    what: `start ${id}`,
    once: { kind: "hypervisors.create", resource: `hypervisors/${id}` },
    // The operation reports its progress to everyone who watches it.
    run: (gateway) => gateway.untilEnd(OperationsService.method.createHypervisor, { id }),
  };
}

/** A call that finds the backup, or an operation that makes it, begins nothing. */
function backupOf(volume: string, { isOnce = false } = {}): Deed {
  return {
    what: `back up ${volume}`,
    ...(isOnce ? { once: { kind: "volumes.backup", resource: `${nvme}/${volume}` } } : {}),
    run: (gateway) =>
      gateway.unary(LVService.method.createBackup, { backup: { name: "nightly", volumeHandle: volume } }),
  };
}

/** Waits for a user, because the code that simulates machines and clusters takes 40 MB of memory. */
function clusterOf(name: string, instanceType: string, count: number): Deed {
  return {
    what: `create the cluster ${name}`,
    needsVisitor: true,
    async run(gateway) {
      const { getClusterList, createCluster } = Cluster.method;
      const { clusters: existing } = await gateway.unary(getClusterList, {});
      if (existing.some((cluster) => cluster.name === name)) {
        return;
      }
      await gateway.unary(createCluster, {
        name,
        k8sVersion: "1.36.3",
        controlPlaneNodes: { instanceType: "standard", count: 1 },
        workerNodePools: [{ name: "workers", instanceType, count }],
      });
    },
  };
}
