import { describeSize } from "../../adapters/host/describe-size.ts";
import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import type { PlannedMutation } from "../operations/mutation.ts";
import type { BackupRow } from "../store/backups.ts";
import { describePlace, placeOf } from "./repository-place.ts";

type Commands = Pick<ResticAdapter, "commandOf">;

/** What errors, operations and plans call a backup. */
export function resourceOf({ id }: Pick<BackupRow, "id">): string {
  return `backups/${id}`;
}

/** What `verify-kind.ts` would do. */
export function planOfVerification(kind: string, restic: Commands, row: BackupRow): PlannedMutation {
  return {
    kind,
    resource: resourceOf(row),
    backend: describePlace(placeOf(row)),
    plan: {
      changes: [`backup ${row.name} of ${row.volume} is read to its end, and what is found is written down`],
      losses: [],
    },
    steps: [
      { name: "read", command: restic.commandOf("restore") },
      { name: "record", command: [] },
    ],
    pointOfNoReturn: 2,
  };
}

/** What `delete-kind.ts` would do. */
export function planOfDeletion(kind: string, restic: Commands, row: BackupRow): PlannedMutation {
  const place = describePlace(placeOf(row));
  return {
    kind,
    resource: resourceOf(row),
    backend: place,
    plan: {
      changes: [`backup ${row.name} of ${row.volume} is deleted`],
      losses: [
        `what ${row.volume} held at ${new Date(row.at).toISOString()}, ${describeSize(BigInt(row.size_bytes))}, in ${place}`,
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

/** A call that joins an operation that is under way, or finds what it asks for, begins nothing. */
export function nothingToDo(kind: string, resource: string): PlannedMutation {
  return { kind, resource, backend: "", plan: { changes: [], losses: [] }, steps: [], pointOfNoReturn: 0 };
}
