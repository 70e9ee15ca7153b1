import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import type { WorkloadAdapter, WorkloadNode } from "../../../../adapters/workload/adapter.ts";
import { workloadReasons } from "../../../../adapters/workload/reasons.ts";
import type { Seal } from "../../../crypto/seal.ts";
import type { Store } from "../../../store/store.ts";
import { openClusterSecrets } from "../access/cluster-secrets.ts";
import { apiHostOf } from "../addresses/api-host.ts";
import { apiServerPort } from "../specs/cluster-settings.ts";
import type { SlotState } from "../store/records.ts";
import type { ClusterWithSlots } from "../store/rows.ts";
import { clusterNotFound, findCluster } from "./find-cluster.ts";
import { type Answer, type NodeStatus, nodeStatusesOf } from "./node-status.ts";

export interface NodeStatusesOptions {
  readonly store: Pick<Store, "run">;
  readonly maas: Pick<MaasAdapter, "whoami" | "machines">;
  readonly workload: Pick<WorkloadAdapter, "connect">;
  readonly seal: Seal;
}

/** Statuses of clusters' machines, as reported by MAAS and the clusters themselves. */
export interface NodeStatuses {
  /**
   * Responds within 3 s. What is not available by then is reported as unknown.
   * @throws InfraError CLUSTER_NOT_FOUND
   */
  read(name: string, signal: AbortSignal): Promise<readonly NodeStatus[]>;
}

const patienceMs = 3_000;

/** States in which a machine may be a node. */
const nodeStates: readonly SlotState[] = ["booted", "joined", "draining", "releasing"];

/** @param options `seal`: decrypts the keys with which clusters are asked */
export function createNodeStatuses({ store, maas, workload, seal }: NodeStatusesOptions): NodeStatuses {
  /** Concurrent calls share one list of machines from MAAS. */
  const machines = createSnapshotCache({
    system: "maas",
    load: async (signal) => {
      // Read each time, since an account may be renamed.
      const { username: owner } = await maas.whoami(signal);
      return maas.machines({ owner }, signal);
    },
    retryMs: 0,
  });

  async function readMachines(signal: AbortSignal) {
    machines.invalidate();
    return (await machines.read(signal)).value;
  }

  async function readNodes(
    { cluster, slots }: ClusterWithSlots,
    signal: AbortSignal,
  ): Promise<readonly WorkloadNode[]> {
    const secrets = await store.run("clusters.secrets", { name: cluster.name });
    if (secrets?.uid !== cluster.uid) {
      throw clusterNotFound(cluster.name);
    }
    const host = apiHostOf(cluster, slots);
    if (host === undefined) {
      throw new InfraError(
        workloadReasons.WORKLOAD_UNAVAILABLE,
        "no machine of its control plane has an address",
      );
    }
    const { kubernetesCa, admin } = openClusterSecrets(seal, cluster.uid, secrets.secretsSealed).pki;
    const connection = workload.connect({
      host,
      port: apiServerPort,
      caCertificatePem: kubernetesCa.certificatePem,
      clientCertificatePem: admin.certificatePem,
      clientKeyPem: admin.privateKeyPem,
    });
    try {
      return await connection.nodes(signal);
    } finally {
      await connection.close();
    }
  }

  return {
    async read(name, signal) {
      const found = await findCluster(store, name);
      const { cluster, slots } = found;
      const leaving = new AbortController();
      const ending = AbortSignal.any([signal, leaving.signal]);
      try {
        const hasMachines = slots.some(({ systemId }) => systemId !== undefined);
        const mayHaveNodes = slots.some(({ state }) => nodeStates.includes(state));
        const [seen, nodes] = await Promise.all([
          hasMachines ? answerOf("MAAS", readMachines(ending)) : { value: [] },
          mayHaveNodes ? answerOf("the cluster", readNodes(found, ending)) : { value: [] },
        ]);
        return nodeStatusesOf(cluster, slots, seen, nodes);
      } finally {
        leaving.abort(new InfraError(hostReasons.CALLER_LEFT, "the caller stopped waiting"));
      }
    },
  };
}

async function answerOf<T>(who: string, pending: Promise<T>): Promise<Answer<T>> {
  if (!(await isSettledWithin(pending, patienceMs))) {
    return { why: `${who} did not respond within ${patienceMs / 1_000} s` };
  }
  try {
    return { value: await pending };
  } catch (error) {
    if (error instanceof InfraError) {
      return { why: error.message };
    }
    throw error;
  }
}
