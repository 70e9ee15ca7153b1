import {
  GetClusterNodesResponseSchema,
  GetClusterResourcesResponseSchema,
  GetClusterStatsResponseSchema,
  GetKoorClusterResponseSchema,
  StatsService,
} from "../../../gen/stats/stats_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { clusterStatsFrom, recentCrashCount } from "./ceph/cluster-stats.ts";
import { setNoteHeaders, setScoreHeader, setSnapshotAge } from "./figures/answer-headers.ts";
import { figureMissing } from "./figures/figure-notes.ts";
import { createNotedAnswers } from "./figures/noted-answers.ts";
import { clusterNodesFrom } from "./kubernetes/cluster-nodes.ts";
import { clusterResourcesFrom } from "./kubernetes/cluster-resources.ts";
import { koorClusterFrom } from "./kubernetes/koor-cluster.ts";
import type { Storage } from "./storage.ts";

/** Creates stats.StatsService: figures of a Ceph cluster and of the Kubernetes cluster that runs it. */
export function createStatsService(storage: Storage): ServiceRegistration {
  const ofStats = createNotedAnswers(GetClusterStatsResponseSchema);
  const ofResources = createNotedAnswers(GetClusterResourcesResponseSchema);
  const ofNodes = createNotedAnswers(GetClusterNodesResponseSchema);
  const ofKoorCluster = createNotedAnswers(GetKoorClusterResponseSchema);
  return registerService(StatsService, {
    async getClusterStats(_request, call) {
      const snapshot = await storage.readCeph(call.signal);
      const { value } = snapshot;
      const nowMs = Date.now();
      return ofStats.of(call, snapshot, String(recentCrashCount(value, nowMs)), () => {
        const { stats, ...notes } = clusterStatsFrom(value, nowMs);
        return { answer: { stats }, notes };
      });
    },
    async getClusterRadar(_request, call) {
      const snapshot = await storage.readCeph(call.signal);
      const { radar, snapshots } = await storage.radarOf(snapshot, call.signal);
      if ("missing" in radar) {
        throw figureMissing(radar.missing);
      }
      setSnapshotAge(call, ...snapshots);
      setScoreHeader(call, radar.ok.because);
      return { radar: radar.ok.message };
    },
    async getClusterResources(_request, call) {
      const snapshot = await storage.readKubernetes("only Kubernetes provides resources", call.signal);
      return ofResources.of(call, snapshot, "", () => {
        const { resources, deployments, ...notes } = clusterResourcesFrom(snapshot.value);
        return { answer: { resources, deployments }, notes };
      });
    },
    async getClusterNodes(_request, call) {
      const { kubernetes, ceph, snapshots } = await storage.readNodes(call.signal);
      const make = () => {
        const { nodes, ...notes } = clusterNodesFrom(kubernetes, ceph);
        return { answer: { nodes }, notes };
      };
      const [snapshot] = snapshots;
      // An error of Kubernetes is not part of Ceph's state, so an answer that contains it is not shared.
      const isOfSnapshots = kubernetes === undefined || "ok" in kubernetes;
      if (snapshot !== undefined && snapshots.length === 1 && isOfSnapshots) {
        return ofNodes.of(call, snapshot, "", make);
      }
      const { answer, notes } = make();
      setSnapshotAge(call, ...snapshots);
      setNoteHeaders(call, notes);
      return answer;
    },
    async getKoorCluster(_request, call) {
      const what = "a KoorCluster is a resource of Kubernetes";
      const snapshot = await storage.readKubernetes(what, call.signal);
      return ofKoorCluster.of(call, snapshot, "", () => {
        const { koorCluster, ...notes } = koorClusterFrom(snapshot.value);
        return { answer: { koorCluster }, notes };
      });
    },
  });
}
