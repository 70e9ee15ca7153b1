import { Cluster, GetVersionReplySchema } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import type { Call } from "../../rpc/call/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/streams/shared-answers.ts";
import { assertClusterName } from "./bootstrap/names.ts";
import type { KaasChanges } from "./changes/kaas-changes.ts";
import type { Clusters } from "./clusters.ts";
import { clusterResource } from "./specs/cluster-resource.ts";
import { versionInformation } from "./specs/version-information.ts";
import { clusterItem, machineStatusMessage } from "./state/cluster-messages.ts";

/**
 * Implements cnct.kaas.api.Cluster: Kubernetes clusters.
 * @param facts about the gateway
 */
export function createKaasService(
  clusters: Clusters,
  changes: KaasChanges,
  facts: { readonly version: string },
): ServiceRegistration {
  const versions = createSharedAnswers(GetVersionReplySchema);
  return registerService(Cluster, {
    ...handlersOf(changes),
    async getCluster(request, call) {
      const name = namedCluster(call, request.name, "name");
      const { cluster, text } = await clusters.kubeconfigs.read(name);
      return { ok: true, cluster: { ...clusterItem(cluster), kubeconfig: text } };
    },
    async getClusterList() {
      return { ok: true, clusters: (await clusters.list()).map(clusterItem) };
    },
    async getClusterNodesStatus(request, call) {
      const name = namedCluster(call, request.clusterName, "clusterName");
      const nodes = await clusters.nodes.read(name, call.signal);
      return { Name: name, count: nodes.length, machines: nodes.map(machineStatusMessage) };
    },
    async getVersionInformation() {
      return versions.of(facts, "", () => ({
        ok: true,
        versionInformation: versionInformation(facts.version),
      }));
    },
    async getUpgradeClusterInformation(request, call) {
      const name = namedCluster(call, request.name, "name");
      const versions = await clusters.upgrades(name);
      return { ok: versions.length > 0, versions: [...versions] };
    },
  });
}

/**
 * Validates the name of the cluster that a call is about, and notes it as the call's resource.
 * @param field the request's field with the name
 * @throws InfraError INVALID_FIELD for an invalid name
 */
export function namedCluster(call: Pick<Call, "noteResource">, name: string, field: string): string {
  call.noteResource(clusterResource(name));
  assertClusterName(name, field);
  return name;
}
