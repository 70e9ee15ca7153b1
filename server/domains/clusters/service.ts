import { Cluster, ClusterStatus, GetVersionReplySchema } from "../../../gen/cnct/kaas/api/api_pb.ts";
import type { Call } from "../../rpc/call/call.ts";
import { requesterFrom } from "../../rpc/call/requester.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/streams/shared-answers.ts";
import { parseKubernetesVersion } from "./bootstrap/kubernetes-version.ts";
import { assertClusterName } from "./bootstrap/names.ts";
import { clusterItem, machineStatusMessage } from "./cluster-messages.ts";
import { poolNamesFrom, poolSizesFrom, wantedClusterFrom, wantedPoolsFrom } from "./cluster-requests.ts";
import { clusterResource } from "./cluster-resource.ts";
import type { Clusters } from "./clusters.ts";
import type { ClusterOperations } from "./operations/cluster-operations.ts";
import { versionInformation } from "./version-information.ts";

/**
 * Implements cnct.kaas.api.Cluster: Kubernetes clusters.
 * @param facts about the gateway
 */
export function createKaasService(
  clusters: Clusters,
  operations: ClusterOperations,
  facts: { readonly version: string },
): ServiceRegistration {
  const { changes } = clusters;
  const versions = createSharedAnswers(GetVersionReplySchema);
  return registerService(Cluster, {
    async createCluster(request, call) {
      call.noteResource(clusterResource(request.name));
      const created = await changes.create(wantedClusterFrom(request), call.caller.actor);
      await operations.created(created, requesterFrom(call));
      const { name } = created;
      return { ok: true, cluster: { name, status: ClusterStatus.PROVISIONING } };
    },
    async getCluster(request, call) {
      const name = namedCluster(call, request.name, "name");
      const { cluster, text } = await clusters.kubeconfigs.read(name);
      return { ok: true, cluster: { ...clusterItem(cluster), kubeconfig: text } };
    },
    async deleteCluster(request, call) {
      const name = namedCluster(call, request.name, "name");
      await operations.removed(await changes.remove(name), requesterFrom(call));
      return { ok: true, status: "Deleting" };
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
    async addNodePool(request, call) {
      const name = namedCluster(call, request.clusterName, "clusterName");
      const pools = wantedPoolsFrom(request.workerNodePools);
      const before = await changes.addPools(name, pools);
      const added = pools.map((pool) => pool.name);
      await operations.poolsAdded(before, added, requesterFrom(call));
      return { ok: true };
    },
    async deleteNodePool(request, call) {
      const name = namedCluster(call, request.clusterName, "clusterName");
      const before = await changes.removePools(name, poolNamesFrom(request.nodePoolNames));
      await operations.poolsRemoved(before, requesterFrom(call));
      return { ok: true };
    },
    async scaleNodePool(request, call) {
      const name = namedCluster(call, request.clusterName, "clusterName");
      const sizes = poolSizesFrom(request.nodePools);
      await operations.poolsScaled(await changes.scalePools(name, sizes), sizes, requesterFrom(call));
      return { ok: true };
    },
    async getUpgradeClusterInformation(request, call) {
      const name = namedCluster(call, request.name, "name");
      const versions = await clusters.upgrades(name);
      return { ok: versions.length > 0, versions: [...versions] };
    },
    async upgradeCluster(request, call) {
      const name = namedCluster(call, request.name, "name");
      const { cluster } = await changes.upgrade(name, parseKubernetesVersion(request.version, "version"));
      await operations.upgraded(cluster, requesterFrom(call));
      return { ok: true };
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
