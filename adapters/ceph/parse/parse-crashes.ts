import { z } from "zod";
import type { CephCrash } from "../adapter.ts";
import { parseReply } from "./parse-reply.ts";

// Ceph accepts any JSON report with an id, so all other fields are optional.
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

/** Parses `crash ls`, newest first. @throws InfraError CEPH_FAILED that names the invalid element */
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

/** Returns the time of a crash. Its id also begins with the time: `2026-11-21T00:04:58.615245Z_c81a5d38-...`. */
function atMsOf({ timestamp, crash_id }: z.output<typeof crashRow>): number {
  const [stamp = ""] = crash_id.split("_");
  const times = [timestamp ?? "", stamp].map((each) => Date.parse(each));
  return times.find((each) => !Number.isNaN(each)) ?? 0;
}

function whatOf(row: z.output<typeof crashRow>): string {
  const reason = row.assert_msg ?? row.assert_condition ?? row.mgr_python_exception ?? "";
  const [firstLine = ""] = reason.trim().split("\n");
  return firstLine === "" ? `${row.process_name ?? "a daemon"} crashed` : firstLine;
}
