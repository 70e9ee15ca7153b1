import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import {
  parseBackupSummary,
  parseExpired,
  parseRestoreSize,
  parseSnapshots,
} from "../../../adapters/restic/parse.ts";

function sample(name: string): string {
  return readFileSync(join(import.meta.dirname, "samples", name), "utf8");
}

test("parses snapshots as listed by restic 0.14", (t) => {
  const snapshots = parseSnapshots(sample("snapshots.json"));
  t.match(snapshots, [
    { hostname: "host1", tags: ["volume=data", "name=nightly"], fileName: "data" },
    { hostname: "host1", tags: ["volume=data"], fileName: "data" },
  ]);
  t.match(snapshots[0]?.id, /^[0-9a-f]{64}$/);
  t.equal(new Date(snapshots[0]?.atMs ?? 0).getUTCFullYear(), 2026);
  t.strictSame(parseSnapshots(sample("snapshots-none.json")), []);
  t.strictSame(parseSnapshots("null"), []);
  t.end();
});

test("sorts snapshots by time, whatever their time zones", (t) => {
  const listed = [
    { id: "b".repeat(64), time: "2026-01-02T00:30:00+01:00", tags: null, paths: ["/b"] },
    { id: "a".repeat(64), time: "2026-01-01T23:00:00.123456789Z", paths: ["/a"], hostname: "h" },
  ];
  const names = parseSnapshots(JSON.stringify(listed)).map(({ fileName }) => fileName);
  t.strictSame(names, ["a", "b"]);
  t.end();
});

test("finds the summary of a backup after its progress", (t) => {
  const spec = { snapshotId: "e75f0b70", sizeBytes: 25_165_824 };
  t.strictSame(parseBackupSummary(sample("backup.jsonl")), spec);
  t.match(parseBackupSummary(sample("backup-quiet.json")), { sizeBytes: 25_165_824 });
  const newer = {
    message_type: "summary",
    total_bytes_processed: 1,
    snapshot_id: "0".repeat(64),
    dry_run: false,
  };
  t.strictSame(parseBackupSummary(`${JSON.stringify(newer)}\n`), {
    snapshotId: "0".repeat(64),
    sizeBytes: 1,
  });
  t.equal(parseBackupSummary(""), undefined);
  t.end();
});

test("the restore size is undefined if no snapshot was counted", (t) => {
  t.equal(parseRestoreSize(sample("stats.json")), 25_165_824);
  t.equal(parseRestoreSize(sample("stats-absent.json")), undefined);
  t.end();
});

test("lists what a policy would remove, also when that is nothing", (t) => {
  const [first] = parseSnapshots(sample("snapshots.json"));
  t.strictSame(parseExpired(sample("expired.json")), [first?.id]);
  t.strictSame(parseExpired(""), []);
  t.strictSame(parseExpired('[{"tags":null,"keep":[],"remove":null}]'), []);
  t.end();
});

test("any other output is TOOL_OUTPUT", (t) => {
  const anything = fc.oneof(fc.string(), fc.json());
  for (const parse of [parseSnapshots, parseRestoreSize, parseExpired]) {
    fc.assert(
      fc.property(anything, (text) => {
        try {
          parse(text);
        } catch (error) {
          return hasReason(error, hostReasons.TOOL_OUTPUT);
        }
        return true;
      }),
    );
  }
  fc.assert(fc.property(anything, (text) => parseBackupSummary(text) === undefined));
  t.end();
});
