import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { WorkloadAdapter } from "../../../../adapters/workload/adapter.ts";
import type { ClusterSettings } from "../specs/cluster-settings.ts";

/** The systems behind the clusters domain. */
export interface ClusterSystem {
  readonly maas: MaasAdapter;
  /** The created clusters. */
  readonly workload: WorkloadAdapter;
  readonly settings: ClusterSettings;
  close(): Promise<void>;
}

/** Puts the systems together. `close` closes both adapters. */
export function clusterSystem(
  maas: MaasAdapter,
  workload: WorkloadAdapter,
  settings: ClusterSettings,
): ClusterSystem {
  return {
    maas,
    workload,
    settings,
    close: async () => void (await Promise.all([maas.close(), workload.close()])),
  };
}
