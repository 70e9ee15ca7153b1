import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import type { ClusterServiceChanges } from "./changes/cluster-service-changes.ts";
import type { Clusters } from "./clusters.ts";
import { namedCluster } from "./service.ts";
import { machineMessage, strayMessage } from "./state/cluster-messages.ts";
import { watchClusters } from "./state/watch-clusters.ts";
import type { StrayCalls } from "./strays/stray-calls.ts";

/** Implements hostplane.v1.ClusterService: streams of cluster changes, the machines of clusters, and stray machines. */
export function createClusterService(
  clusters: Clusters,
  strays: Pick<StrayCalls, "list">,
  changes: ClusterServiceChanges,
): ServiceRegistration {
  return registerService(ClusterService, {
    ...handlersOf(changes),
    watchClusters: ({ names }, call) => watchClusters(clusters.states, names, call.signal),
    async listMachines(request, call) {
      const name = namedCluster(call, request.cluster, "cluster");
      const { slots, events } = await clusters.machines(name);
      const eventsOf = Map.groupBy(events, ({ slotUid }) => slotUid);
      return { machines: slots.map((slot) => machineMessage(slot, eventsOf.get(slot.uid) ?? [])) };
    },
    async getKubeconfig(request, call) {
      const name = namedCluster(call, request.cluster, "cluster");
      const { text, expiresAt } = await clusters.kubeconfigs.read(name);
      return { kubeconfig: text, expiresAt: timestampFromDate(expiresAt) };
    },
    async listStrays() {
      const { strays: found, reportOnlyBecause } = await strays.list();
      return { strays: found.map(strayMessage), reportOnlyBecause: reportOnlyBecause ?? "" };
    },
  });
}
