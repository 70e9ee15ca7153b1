import { z } from "zod";
import type {
  CephClientIo,
  CephHealthCheck,
  CephPgs,
  CephRecovery,
  CephRgws,
  CephState,
} from "../adapter.ts";
import { parseReply } from "./parse-reply.ts";
import { count } from "./parse-values.ts";

const severity = z.enum(["HEALTH_WARN", "HEALTH_ERR"]);
const healthCheck = z.object({
  severity,
  summary: z.object({ message: z.string(), count: count.default(0) }),
  muted: z.boolean().default(false),
});
const rgwDaemon = z.object({
  metadata: z.object({
    id: z.string().default(""),
    hostname: z.string().default(""),
    zone_name: z.string().default(""),
  }),
});
// Besides the daemons, by their numbers, there is a text: the summary.
const rgwDaemons = z
  .record(z.string(), z.unknown())
  .transform((daemons) => Object.values(daemons).filter((daemon) => typeof daemon === "object"))
  .pipe(z.array(rgwDaemon));
// A rate is present only while it is above 0.
const rate = z.number().nonnegative().default(0);

const status = z.object({
  fsid: z.string().min(1),
  health: z.object({
    status: z.enum(["HEALTH_OK", "HEALTH_WARN", "HEALTH_ERR"]),
    checks: z.record(z.string(), healthCheck),
  }),
  quorum_names: z.array(z.string()),
  pgmap: z.object({
    pgs_by_state: z.array(z.object({ state_name: z.string(), count })).default([]),
    num_pgs: count,
    num_objects: count.default(0),
    read_bytes_sec: rate,
    write_bytes_sec: rate,
    read_op_per_sec: rate,
    write_op_per_sec: rate,
    recovering_bytes_per_sec: rate,
    recovering_objects_per_sec: rate,
  }),
  mgrmap: z.object({ available: z.boolean() }),
  servicemap: z.object({
    services: z.object({ rgw: z.object({ daemons: rgwDaemons }).optional() }),
  }),
});

/** Facts about the whole cluster from `ceph status`. */
export interface CephStatus extends Pick<CephState, "fsid" | "health" | "slowOperationCount"> {
  readonly quorum: readonly string[];
  /** Whether a manager is active. Without one, its statistics are those of the last one. */
  readonly isMgrAvailable: boolean;
  readonly pgs: CephPgs;
  readonly objectCount: number;
  readonly clientIo: CephClientIo;
  readonly recovery: CephRecovery;
  readonly rgws: CephRgws;
}

/** Parses `status`. @throws InfraError CEPH_FAILED that names the invalid element */
export function parseStatus(text: string): CephStatus {
  const { fsid, health, quorum_names, pgmap, mgrmap, servicemap } = parseReply("status", status, text);
  const checks = Object.entries(health.checks).map(([code, check]): CephHealthCheck => {
    const { message, count: about } = check.summary;
    return { code, severity: check.severity, summary: message, count: about, isMuted: check.muted };
  });
  return {
    fsid,
    health: { status: health.status, checks: checks.toSorted((a, b) => (a.code < b.code ? -1 : 1)) },
    slowOperationCount: checks.find(({ code }) => code === "SLOW_OPS")?.count ?? 0,
    quorum: quorum_names,
    isMgrAvailable: mgrmap.available,
    pgs: {
      count: pgmap.num_pgs,
      states: pgmap.pgs_by_state.map((row) => ({ state: row.state_name, count: row.count })),
    },
    objectCount: pgmap.num_objects,
    clientIo: {
      readBytesPerSecond: pgmap.read_bytes_sec,
      writeBytesPerSecond: pgmap.write_bytes_sec,
      readsPerSecond: pgmap.read_op_per_sec,
      writesPerSecond: pgmap.write_op_per_sec,
    },
    recovery: {
      bytesPerSecond: pgmap.recovering_bytes_per_sec,
      objectsPerSecond: pgmap.recovering_objects_per_sec,
    },
    rgws: {
      daemons: (servicemap.services.rgw?.daemons ?? []).map(({ metadata }) => ({
        name: metadata.id,
        host: metadata.hostname,
        zone: metadata.zone_name,
      })),
    },
  };
}
