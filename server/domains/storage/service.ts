import { InfraError } from "../../../adapters/host/infra-error.ts";
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
      const reading = storage.radarOf(snapshot);
      if ("missing" in reading) {
        throw figureMissing(reading.missing);
      }
      tellAge(call, snapshot);
      tellScores(call, reading.ok.because);
      return { radar: reading.ok.message };
    },
    async getClusterResources() {
      throw new InfraError("NOT_BUILT", "this version does not read Kubernetes yet");
    },
    async getClusterNodes() {
      throw new InfraError("NOT_BUILT", "this version does not read Kubernetes yet");
    },
    async getKoorCluster() {
      throw new InfraError("NOT_BUILT", "this version does not read Kubernetes yet");
    },
  });
}
