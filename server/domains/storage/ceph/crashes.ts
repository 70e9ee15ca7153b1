import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CephCrash } from "../../../../adapters/ceph/adapter.ts";
import type { CephCrashSchema } from "../../../../gen/hostplane/v1/storage_pb.ts";

/** Age up to which Ceph itself warns of a crash (`mgr/crash/warn_recent_interval`). */
const recentMs = 14 * 24 * 3_600_000;

/** Returns the crashes of the last two weeks that are not archived. A crash without a time counts as recent. */
export function recentCrashes(crashes: readonly CephCrash[], nowMs: number): readonly CephCrash[] {
  return crashes.filter(({ isArchived, atMs }) => !isArchived && (atMs === 0 || nowMs - atMs <= recentMs));
}

/** Describes a crash, for example `osd.1 on ceph-2 crashed at 2026-11-21T00:04:58.615Z: FAILED ceph_assert(false)`. */
export function crashSentence({ entity, host, atMs, what }: CephCrash): string {
  const who = entity === "" ? "a daemon" : entity;
  const where = host === "" ? "" : ` on ${host}`;
  const when = atMs === 0 ? "" : ` at ${new Date(atMs).toISOString()}`;
  return `${who}${where} crashed${when}: ${what}`;
}

/** Converts a crash report. Ceph's 0 for an unknown time becomes no time. */
export function crashMessage(crash: CephCrash): MessageInitShape<typeof CephCrashSchema> {
  const { id, entity, host, atMs, what, version, isArchived } = crash;
  const at = atMs === 0 ? {} : { at: timestampFromMs(atMs) };
  return { id, entity, host, ...at, what, version, archived: isArchived };
}
