import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CephCrash } from "../../../adapters/ceph/adapter.ts";
import type { CephCrashSchema } from "../../../gen/hostplane/v1/storage_pb.ts";

/** For so long a crash is recent to Ceph itself, which warns of it: `mgr/crash/warn_recent_interval`. */
const recentMs = 14 * 24 * 3_600_000;

/** Those that nobody has archived, of the last two weeks. One whose report tells no time counts as recent. */
export function recentCrashes(crashes: readonly CephCrash[], nowMs: number): readonly CephCrash[] {
  return crashes.filter(({ isArchived, atMs }) => !isArchived && (atMs === 0 || nowMs - atMs <= recentMs));
}

/** Who, where, when and what, e.g. `osd.1 on ceph-2 crashed at 2026-11-21T00:04:58.615Z: FAILED ceph_assert(false)`. */
export function crashSentence({ entity, host, atMs, what }: CephCrash): string {
  const who = entity === "" ? "a daemon" : entity;
  const where = host === "" ? "" : ` on ${host}`;
  const when = atMs === 0 ? "" : ` at ${new Date(atMs).toISOString()}`;
  return `${who}${where} crashed${when}: ${what}`;
}

export function crashMessage(crash: CephCrash): MessageInitShape<typeof CephCrashSchema> {
  const { id, entity, host, atMs, what, version, isArchived } = crash;
  const at = atMs === 0 ? {} : { at: timestampFromMs(atMs) };
  return { id, entity, host, ...at, what, version, archived: isArchived };
}
