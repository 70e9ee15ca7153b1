import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { machineMessage, strayMessage } from "./cluster-messages.ts";
import type { Clusters } from "./clusters.ts";
import { namedCluster } from "./service.ts";
import type { StrayCalls } from "./stray-calls.ts";
import { watchClusters } from "./watch-clusters.ts";

/** Implements hostplane.v1.ClusterService: streams of cluster changes, the machines of clusters, and stray machines. */
export function createClusterService(clusters: Clusters, strays: StrayCalls): ServiceRegistration {
  return registerService(ClusterService, {
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
    async rotateKubeconfig(request, call) {
      const name = namedCluster(call, request.cluster, "cluster");
      const { text, expiresAt } = await clusters.kubeconfigs.rotate(name);
      return { kubeconfig: text, expiresAt: timestampFromDate(expiresAt) };
    },
    async listStrays() {
      const { strays: found, reportOnlyBecause } = await strays.list();
      return { strays: found.map(strayMessage), reportOnlyBecause: reportOnlyBecause ?? "" };
    },
    async adoptStray({ systemId }, call) {
      call.noteResource(machineResource(systemId));
      const slot = await strays.adopt(systemId);
      return { machine: machineMessage(slot, []) };
    },
    async releaseStray({ systemId }, call) {
      call.noteResource(machineResource(systemId));
      await strays.release(systemId);
      return {};
    },
  });
}

/** Returns the resource name of a MAAS machine for the log, the audit log and plans. Overlong, invalid ids are truncated. */
function machineResource(systemId: string): string {
  return `machines/${systemId.slice(0, 63)}`;
}
