import { describeSize } from "../../adapters/host/describe-size.ts";
import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import type { PlannedMutation } from "../operations/mutation.ts";
import { describePlace, placeOf } from "./repository-place.ts";
import type { BackupRow } from "./store/backups.ts";

type Commands = Pick<ResticAdapter, "commandOf">;

/** Returns the resource name of a backup, for errors, operations and plans. */
export function resourceOf({ id }: Pick<BackupRow, "id">): string {
  return `backups/${id}`;
}

/** Plans the operation of `verify-kind.ts`. */
export function planOfVerification(kind: string, restic: Commands, row: BackupRow): PlannedMutation {
  return {
    kind,
    resource: resourceOf(row),
    backend: describePlace(placeOf(row)),
    plan: {
      changes: [`backup ${row.name} of ${row.volume} is read completely, and the result is recorded`],
      losses: [],
    },
    steps: [
      { name: "read", command: restic.commandOf("restore") },
      { name: "record", command: [] },
    ],
    pointOfNoReturn: 2,
  };
}

/** Plans the operation of `delete-kind.ts`. */
export function planOfDeletion(kind: string, restic: Commands, row: BackupRow): PlannedMutation {
  const place = describePlace(placeOf(row));
  return {
    kind,
    resource: resourceOf(row),
    backend: place,
    plan: {
      changes: [`backup ${row.name} of ${row.volume} is deleted`],
      losses: [
        `the content of ${row.volume} at ${new Date(row.at).toISOString()}, ${describeSize(BigInt(row.size_bytes))}, in ${place}`,
      ],
    },
    steps: [
      { name: "forget", command: restic.commandOf("forget") },
      { name: "removeRecord", command: [] },
      { name: "prune", command: restic.commandOf("prune") },
    ],
    pointOfNoReturn: 0,
  };
}

/** Returns the plan of a call that starts nothing, because it joins a running operation or the desired state already exists. */
export function nothingToDo(kind: string, resource: string): PlannedMutation {
  return { kind, resource, backend: "", plan: { changes: [], losses: [] }, steps: [], pointOfNoReturn: 0 };
}
