import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CephSnapshot } from "../../../adapters/ceph/adapter.ts";
import {
  ListCrashesResponseSchema,
  ListOsdsResponseSchema,
  ListPoolsResponseSchema,
  StorageService,
  WatchClusterStatsResponseSchema,
} from "../../../gen/hostplane/v1/storage_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/streams/shared-answers.ts";
import { watchState } from "../../rpc/streams/watch-state.ts";
import { clusterStatsFrom } from "./ceph/cluster-stats.ts";
import { crashMessage } from "./ceph/crashes.ts";
import { osdMessages } from "./ceph/osds.ts";
import { poolMessages } from "./ceph/pools.ts";
import type { StorageChanges } from "./changes/archive-crash.ts";
import { createFigureNotes, requirePart } from "./figures/figure-notes.ts";
import { createNotedAnswers } from "./figures/noted-answers.ts";
import type { RadarReading } from "./radar/cluster-radar.ts";
import type { Storage } from "./storage.ts";

/** Creates hostplane.v1.StorageService: the Ceph cluster, beyond what stats.StatsService reports. */
export function createStorageService(storage: Storage, changes: StorageChanges): ServiceRegistration {
  const poolLists = createNotedAnswers(ListPoolsResponseSchema);
  const osdLists = createNotedAnswers(ListOsdsResponseSchema);
  const watched = createSharedAnswers(WatchClusterStatsResponseSchema);
  const crashLists = createNotedAnswers(ListCrashesResponseSchema);
  return registerService(StorageService, {
    async *watchClusterStats(_request, call) {
      const read = () => storage.readCeph(call.signal);
      for await (const snapshot of watchState(storage.subscribe, read, call.signal)) {
        const { radar, snapshots } = await storage.radarOf(snapshot, call.signal);
        // The radar also covers the last hour, so answers are shared only within the same second.
        const readAtMs = snapshots.map((one) => one.readAtMs);
        const key = JSON.stringify([Math.floor(Date.now() / 1000), snapshot.staleBecause, ...readAtMs]);
        yield watched.of(snapshot.value, key, () => clusterMessage(snapshot, radar));
      }
    },
    async listPools(_request, call) {
      const snapshot = await storage.readCeph(call.signal);
      const { value } = snapshot;
      return poolLists.of(call, snapshot, "", () => {
        const notes = createFigureNotes();
        const pools = poolMessages(requirePart("pools", value.pools), value, notes);
        return { answer: { pools }, notes };
      });
    },
    async listOsds(_request, call) {
      const snapshot = await storage.readCeph(call.signal);
      const { value } = snapshot;
      return osdLists.of(call, snapshot, "", () => {
        const notes = createFigureNotes();
        const osds = osdMessages(requirePart("osds", value.osds), value, notes);
        return { answer: { osds }, notes };
      });
    },
    async listCrashes({ archived }, call) {
      const snapshot = await storage.readCeph(call.signal);
      return crashLists.of(call, snapshot, String(archived), () => {
        const crashes = requirePart("crashes", snapshot.value.crashes);
        const listed = crashes.filter(({ isArchived }) => archived || !isArchived).map(crashMessage);
        return { answer: { crashes: listed }, notes: { missing: [] } };
      });
    },
    ...handlersOf(changes),
  });
}

function clusterMessage(
  snapshot: CephSnapshot,
  radar: RadarReading,
): MessageInitShape<typeof WatchClusterStatsResponseSchema> {
  const { value, readAtMs, staleBecause = "" } = snapshot;
  const { stats, missing, clamped } = clusterStatsFrom(value, Date.now());
  const ofRadar =
    "missing" in radar ? radar.missing.map(({ field, reason }) => ({ field: `radar.${field}`, reason })) : [];
  const { recovery } = value;
  const ofRecovery = "missing" in recovery ? [{ field: "recovery", reason: recovery.missing }] : [];
  return {
    stats,
    ...("ok" in radar && { radar: radar.ok.message }),
    missing: [...missing.map((each) => ({ ...each })), ...ofRadar, ...ofRecovery],
    readAt: timestampFromMs(Math.round(Date.now() - (performance.now() - readAtMs))),
    staleBecause,
    clamped: [...clamped],
    healthChecks: value.health.checks.map(({ code, severity, summary, isMuted }) => ({
      code,
      severity,
      summary,
      muted: isMuted,
    })),
    ...("ok" in recovery && { recovery: { ...recovery.ok } }),
  };
}
