import { test } from "tap";
import type {
  PoolBackupRun,
  PoolBackupTools,
} from "../../../../../../server/domains/hypervisors/pool/backups/backup-run.ts";
import { verifyStep } from "../../../../../../server/domains/hypervisors/pool/backups/keep-steps.ts";
import { tagsOfVolume } from "../../../../../../server/domains/hypervisors/pool/backups/stored-marks.ts";

const sizeBytes = 5;

function snapshotOf(backupId: string, id: string) {
  const marks = {
    backupId,
    operationId: "op",
    name: "pool-1",
    volume: "a",
    poolName: "images",
    atMs: 1,
    sizeBytes,
  };
  return { id, atMs: 1, hostname: "alpha", fileName: "a", tags: tagsOfVolume(marks) };
}

test("skipped volumes are not counted, and the newer of two snapshots is kept", async (t) => {
  const reported: (string | undefined)[] = [];
  const tools = {
    repositories: { open: async () => ({}) },
    restic: {
      list: async () => [snapshotOf("1", "older"), snapshotOf("1", "newer")],
      sizeOf: async () => sizeBytes,
    },
  } as unknown as PoolBackupTools;
  const chosen = [
    { name: "a", identity: "/a", backupId: "1", sizeBytes },
    { name: "gone", identity: "/gone", backupId: "2", sizeBytes },
  ];
  const run = {
    operationId: "op",
    input: {},
    output: (step: string) => (step === "choose" ? { volumes: chosen } : { skipped: ["gone"] }),
    progress: ({ message }: { readonly message?: string }) => void reported.push(message),
  } as unknown as PoolBackupRun;
  t.match(await verifyStep(tools).forward(run), { stored: [{ snapshotId: "newer" }], otherIds: ["older"] });
  t.strictSame(reported, ["a is verified (1 of 1)"]);
});
