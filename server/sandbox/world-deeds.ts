import type { CallOptions } from "@connectrpc/connect";
import type { WorldClients } from "./world-clients.ts";

/** Something that the demo world does once, by calls as a user would make them. */
export interface Deed {
  /** As an infinitive, for the log. */
  readonly what: string;
  /** The operation that it begins. If the store has one, the deed was done at an earlier start, and is not repeated. */
  readonly once?: { readonly kind: string; readonly resource: string };
  /** Whether it waits for the first request of a user. */
  readonly needsVisitor?: boolean;
  run(clients: WorldClients, options: CallOptions): Promise<unknown>;
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
    async run({ hypervisors }, options) {
      for await (const _ of hypervisors.createHypervisor({ id }, options)) {
        // The operation reports its progress to everyone who watches it.
      }
    },
  };
}

/** A call that finds the backup, or an operation that makes it, begins nothing. */
function backupOf(volume: string, { isOnce = false } = {}): Deed {
  return {
    what: `back up ${volume}`,
    ...(isOnce ? { once: { kind: "volumes.backup", resource: `${nvme}/${volume}` } } : {}),
    run: ({ logicalVolumes }, options) =>
      logicalVolumes.createBackup({ backup: { name: "nightly", volumeHandle: volume } }, options),
  };
}

/** Waits for a user, because the code that simulates machines and clusters takes 40 MB of memory. */
function clusterOf(name: string, instanceType: string, count: number): Deed {
  return {
    what: `create the cluster ${name}`,
    needsVisitor: true,
    async run({ clusters }, options) {
      const { clusters: existing } = await clusters.getClusterList({}, options);
      if (existing.some((cluster) => cluster.name === name)) {
        return;
      }
      await clusters.createCluster(
        {
          name,
          k8sVersion: "1.36.3",
          controlPlaneNodes: { instanceType: "standard", count: 1 },
          workerNodePools: [{ name: "workers", instanceType, count }],
        },
        options,
      );
    },
  };
}
