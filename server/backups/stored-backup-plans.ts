import { describeSize } from "../../adapters/host/describe-size.ts";
import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import type { CheckedOperation } from "../domain/long-change.ts";
import type { PlanFact } from "../operations/mutation.ts";
import type { Json } from "../operations/operation.ts";
import { factsOf } from "../operations/plan-facts.ts";
import { describePlace, placeOf } from "./repository-place.ts";
import type { BackupRow } from "./store/backups.ts";

type Commands = Pick<ResticAdapter, "commandOf">;

/** Returns the resource name of a backup, for errors, operations and plans. */
export function resourceOf({ id }: Pick<BackupRow, "id">): string {
  return `backups/${id}`;
}

/** The part of a checked operation that describes it for people. */
export type StoredBackupPlan = Pick<CheckedOperation<Json>, "plan" | "steps">;

/** Describes the operation of `verify-kind.ts`. */
export function planOfVerification(restic: Commands, row: BackupRow): StoredBackupPlan {
  return {
    plan: {
      changes: [`backup ${row.name} of ${row.volume} is read completely, and the result is recorded`],
      losses: [],
      facts: factsOfBackup(row),
    },
    steps: [
      { name: "read", command: restic.commandOf("restore") },
      { name: "record", command: [] },
    ],
  };
}

/** Describes the operation of `delete-kind.ts`. */
export function planOfDeletion(restic: Commands, row: BackupRow): StoredBackupPlan {
  const place = describePlace(placeOf(row));
  return {
    plan: {
      changes: [`backup ${row.name} of ${row.volume} is deleted`],
      losses: [
        `the content of ${row.volume} at ${new Date(row.at).toISOString()}, ${describeSize(BigInt(row.size_bytes))}, in ${place}`,
      ],
      facts: factsOfBackup(row),
    },
    steps: [
      { name: "forget", command: restic.commandOf("forget") },
      { name: "removeRecord", command: [] },
      { name: "prune", command: restic.commandOf("prune") },
    ],
  };
}

/** Returns what plans about a backup follow from. */
export function factsOfBackup(row: BackupRow): PlanFact[] {
  return factsOf(resourceOf(row), {
    snapshotId: row.snapshot_id,
    sizeBytes: row.size_bytes,
    repository: describePlace(placeOf(row)),
  });
}
