import type { KeepPolicy } from "../../../../../adapters/restic/adapter.ts";
import { pruneStep } from "../../../../backups/prune-step.ts";
import { describePlace, type RepositoryPlace } from "../../../../backups/repository-place.ts";
import type { BackupRow } from "../../../../backups/store/backups.ts";
import { scheduleTagsOf } from "../../../../backups/stored-backup.ts";
import type { StoredBackupTools } from "../../../../backups/stored-backup-run.ts";
import type { OperationKind, OperationStep, StepRun } from "../../../../operations/operation-kind.ts";
import { parseVolumeHandle } from "../volume-handle.ts";

/** Input of an operation that removes the expired backups of a schedule. */
export type RetentionInput = {
  readonly schedule: string;
  readonly host: string;
  readonly keep: { readonly [Rule in keyof KeepPolicy]: number };
  readonly minimumAgeHours: number;
  readonly place: RepositoryPlace;
  readonly keyName: string;
};

type Expired = { readonly backupId: string; readonly snapshotId: string };

type RetentionRun = StepRun<RetentionInput, null>;
type RetentionStep = OperationStep<RetentionInput, null>;

export const retentionKindName = "volumes.applyRetention";

const hourMs = 3_600_000;

/** Rows per page when the list of backups is read. */
const pageSize = 1000;

/**
 * volumes.applyRetention: removes the schedule's backups that its `keep` does not retain, first from the repository, all at
 * once, and then from the gateway's list.
 */
export function createRetentionKind(tools: StoredBackupTools): OperationKind<RetentionInput> {
  return {
    kind: retentionKindName,
    system: "restic",
    runsOn: "host",
    steps: [
      decideStep(tools),
      forgetStep(tools),
      removeRecordsStep(tools),
      pruneStep(tools, (run) => expiredBy(run).length > 0),
    ],
    pointOfNoReturn: "forget",
    result: (run) => ({ deleted: expiredBy(run).map(({ backupId }) => backupId) }),
  };
}

/** Selects the backups to remove: those that restic's policy does not keep, that are recorded, and that are old enough. */
function decideStep({ restic, repositories, store }: StoredBackupTools): RetentionStep {
  async function rowsOf({ schedule, host, place, keyName }: RetentionInput): Promise<BackupRow[]> {
    const filters = { schedule, host };
    const rows: BackupRow[] = [];
    let belowSeq: number | undefined;
    do {
      const page = await store.run("backups.list", { filters, belowSeq, limit: pageSize });
      rows.push(...page.rows);
      belowSeq = page.nextSeq;
    } while (belowSeq !== undefined);
    const repository = JSON.stringify(place);
    return rows.filter((row) => row.repository_json === repository && row.key_name === keyName);
  }
  return {
    name: "decide",
    title: "selecting the backups to remove",
    isAbortable: true,
    async forward({ input, signal }) {
      const { schedule, host, place, keyName, keep, minimumAgeHours } = input;
      const repository = await repositories.open(place, null, keyName);
      const newestMs = Date.now() - minimumAgeHours * hourMs;
      const expired: Expired[] = [];
      for (const [resource, rows] of Map.groupBy(await rowsOf(input), ({ volume }) => volume)) {
        const { volumeGroup, name } = parseVolumeHandle(resource);
        const tags = scheduleTagsOf(schedule, host, `${volumeGroup}/${name}`);
        const ids = new Set(await restic.expired(repository, tags, keep, signal));
        const isLeaving = (row: BackupRow) => ids.has(row.snapshot_id) && row.at <= newestMs;
        const leaving = rows.filter(isLeaving);
        // Damaged backups do not count as kept: an intact one is removed only if another intact one remains.
        if (rows.some((row) => !isLeaving(row) && row.damage === null)) {
          expired.push(...leaving.map(({ id, snapshot_id }) => ({ backupId: id, snapshotId: snapshot_id })));
        }
      }
      return { expired };
    },
  };
}

function forgetStep({ restic, repositories, store }: StoredBackupTools): RetentionStep {
  return {
    name: "forget",
    title: "removing backups from the repository",
    isAbortable: false,
    // Other work on the repository locks this step out.
    maxAttempts: 10,
    async happened({ token }) {
      await restic.settle(token);
      return undefined;
    },
    async forward(run) {
      const { input, signal, token, progress } = run;
      const ids = expiredBy(run).map(({ snapshotId }) => snapshotId);
      if (ids.length > 0) {
        const repository = await repositories.open(input.place, null, input.keyName);
        await restic.forget(repository, ids, { signal, token, onProgress: progress });
      }
      return null;
    },
    // Removed snapshots cannot be restored, but their records can be removed, so that they are no longer listed.
    async undo(run) {
      const { input, token, signal } = run;
      await restic.settle(token);
      const repository = await repositories.open(input.place, null, input.keyName);
      const stored = new Set((await restic.list(repository, [], signal)).map(({ id }) => id));
      const gone = expiredBy(run).filter(({ snapshotId }) => !stored.has(snapshotId));
      await store.run("backups.remove", { ids: gone.map(({ backupId }) => backupId) });
    },
    attention: ({ input }) => ({
      left: [
        `It is unknown which expired backups of schedule ${input.schedule} are still in ${describePlace(input.place)}; all of them are still listed.`,
      ],
      advice: ["Retry the operation once the repository is reachable; it then checks the backups."],
    }),
  };
}

function removeRecordsStep({ store }: StoredBackupTools): RetentionStep {
  return {
    name: "removeRecords",
    title: "removing the backups from the list",
    isAbortable: false,
    async forward(run) {
      await store.run("backups.remove", { ids: expiredBy(run).map(({ backupId }) => backupId) });
      return null;
    },
  };
}

/** Returns the output of the `decide` step; the cast is safe, since an output keeps the type that its step returned. */
function expiredBy({ output }: Pick<RetentionRun, "output">): readonly Expired[] {
  return (output("decide") as { readonly expired: readonly Expired[] }).expired;
}
