import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { clusterReasons } from "../reasons.ts";
import { clusterResource } from "./cluster-resource.ts";

/** Returns the error of a cluster that others change again and again. */
export function clusterChanged(name: string): InfraError {
  const why = `cluster ${name} is being changed concurrently; try again`;
  return new InfraError(clusterReasons.CLUSTER_CHANGED, why, { resource: clusterResource(name) });
}

/** Returns the error of a cluster to be created under a used name. */
export function clusterExists(name: string): InfraError {
  const resource = clusterResource(name);
  return new InfraError(clusterReasons.CLUSTER_EXISTS, `cluster ${name} already exists`, { resource });
}

/** Returns the error of a cluster for which no address is free. @param count number of configured addresses */
export function noEndpoint(name: string, count: number): InfraError {
  const why = `all ${count} addresses in \`clusters.endpoint.addresses\` are used by clusters`;
  return new InfraError(clusterReasons.NO_ENDPOINT, why, { resource: clusterResource(name) });
}

/** Returns the error of a change that needs a stable address. @param what e.g. `an upgrade` */
export function endpointMissing(name: string, what: string): InfraError {
  const why = `${what} needs a stable address: set \`clusters.endpoint\` in the configuration, then create the cluster`;
  return new InfraError(clusterReasons.CLUSTER_ENDPOINT_MISSING, why, { resource: clusterResource(name) });
}
