import { z } from "zod";
import type { CephCrash } from "./adapter.ts";
import { parseReply } from "./parse-reply.ts";

// Ceph takes any report that is JSON with an id, so nothing else is sure to be there.
const text = z.string().optional();
const crashRow = z.object({
  crash_id: z.string().min(1),
  entity_name: text,
  utsname_hostname: text,
  timestamp: text,
  process_name: text,
  ceph_version: text,
  assert_msg: text,
  assert_condition: text,
  mgr_python_exception: text,
  archived: text,
});

/** Reads `crash ls`, newest first. @throws InfraError CEPH_FAILED that names the place at fault */
export function parseCrashes(output: string): readonly CephCrash[] {
  const rows = parseReply("crash ls", z.array(crashRow), output);
  return rows.map(crashFromRow).toSorted((a, b) => b.atMs - a.atMs || (a.id < b.id ? -1 : 1));
}

function crashFromRow(row: z.output<typeof crashRow>): CephCrash {
  return {
    id: row.crash_id,
    entity: row.entity_name ?? "",
    host: row.utsname_hostname ?? "",
    atMs: atMsOf(row),
    what: whatOf(row),
    version: row.ceph_version ?? "",
    isArchived: row.archived !== undefined,
  };
}

/** An id begins with the time, too: `2026-11-21T00:04:58.615245Z_c81a5d38-...`. */
function atMsOf({ timestamp, crash_id }: z.output<typeof crashRow>): number {
  const [stamp = ""] = crash_id.split("_");
  const times = [timestamp ?? "", stamp].map((each) => Date.parse(each));
  return times.find((each) => !Number.isNaN(each)) ?? 0;
}

function whatOf(row: z.output<typeof crashRow>): string {
  const said = row.assert_msg ?? row.assert_condition ?? row.mgr_python_exception ?? "";
  const [firstLine = ""] = said.trim().split("\n");
  return firstLine === "" ? `${row.process_name ?? "a daemon"} crashed` : firstLine;
}
