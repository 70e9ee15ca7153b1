import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Store } from "../../../store/store.ts";
import { clusterReasons } from "../reasons.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type { ClusterRecord } from "../store/records.ts";
import type { ClusterWithSlots } from "../store/rows.ts";

/**
 * Finds a cluster by name, with its machines that are not released.
 * @throws InfraError CLUSTER_NOT_FOUND
 */
export async function findCluster(store: Pick<Store, "run">, name: string): Promise<ClusterWithSlots> {
  const found = await store.run("clusters.get", { name });
  if (found === undefined) {
    throw clusterNotFound(name);
  }
  return found;
}

/** Returns the error for a name that no cluster has. */
export function clusterNotFound(name: string): InfraError {
  const resource = clusterResource(name);
  return new InfraError(clusterReasons.CLUSTER_NOT_FOUND, `cluster ${name} not found`, { resource });
}

/**
 * Adds a message to a cluster whose machines belong to another MAAS: its other fields are outdated, since this gateway does
 * not reconcile it.
 */
export function withOtherMaasMessage<T extends Pick<ClusterRecord, "backend" | "message">>(
  cluster: T,
  maasUrl: string,
): T {
  const { backend } = cluster;
  return backend === maasUrl ? cluster : { ...cluster, message: otherMaas(backend, maasUrl) };
}

/** @throws InfraError CLUSTER_OF_OTHER_MAAS */
export function assertOfMaas({ name, backend }: ClusterRecord, maasUrl: string): void {
  if (backend !== maasUrl) {
    const resource = clusterResource(name);
    throw new InfraError(clusterReasons.CLUSTER_OF_OTHER_MAAS, `${name}: ${otherMaas(backend, maasUrl)}`, {
      resource,
    });
  }
}

function otherMaas(backend: string, maasUrl: string): string {
  return `its machines belong to the MAAS at ${backend}, but this gateway uses the one at ${maasUrl}`;
}

/** @throws InfraError CLUSTER_STOPPING */
export function assertNotStopping({ name, isDeleting }: ClusterRecord): void {
  if (isDeleting) {
    throw new InfraError(clusterReasons.CLUSTER_STOPPING, `${name} is being deleted`, {
      resource: clusterResource(name),
    });
  }
}
