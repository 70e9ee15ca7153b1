import { StatsService } from "../../../gen/stats/stats_pb.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import { tellAge, tellNotes, tellScores } from "./answer-headers.ts";
import { clusterStatsFrom } from "./cluster-stats.ts";
import { figureMissing } from "./figure-notes.ts";
import type { Storage } from "./storage.ts";

/** stats.StatsService: figures of a Ceph cluster and of the Kubernetes cluster that carries it. */
export function createStatsService(storage: Storage): ServiceRegistration {
  return registerService(StatsService, {
    async getClusterStats(_request, call) {
      const snapshot = await storage.readCeph(call.signal);
      const { stats, ...notes } = clusterStatsFrom(snapshot.value, Date.now());
      tellAge(call, snapshot);
      tellNotes(call, notes);
      return { stats };
    },
    async getClusterRadar(_request, call) {
      const snapshot = await storage.readCeph(call.signal);
      const { radar, snapshots } = await storage.radarOf(snapshot, call.signal);
      if ("missing" in radar) {
        throw figureMissing(radar.missing);
      }
      tellAge(call, ...snapshots);
      tellScores(call, radar.ok.because);
      return { radar: radar.ok.message };
    },
    async getClusterResources(_request, call) {
      const { resources, deployments, snapshots, ...notes } = await storage.readResources(call.signal);
      tellAge(call, ...snapshots);
      tellNotes(call, notes);
      return { resources, deployments };
    },
    async getClusterNodes(_request, call) {
      const { nodes, snapshots, ...notes } = await storage.readNodes(call.signal);
      tellAge(call, ...snapshots);
      tellNotes(call, notes);
      return { nodes };
    },
    async getKoorCluster(_request, call) {
      const { koorCluster, snapshots, ...notes } = await storage.readKoorCluster(call.signal);
      tellAge(call, ...snapshots);
      tellNotes(call, notes);
      return { koorCluster };
    },
  });
}
