import { describePlace, localPlace } from "../../../../backups/repository-place.ts";
import { findOperation } from "../../../../operations/find-operation.ts";
import type { OperationStarter } from "../../../../operations/operations.ts";
import type { BackupParts } from "../backup-parts.ts";
import type { BackupSchedule } from "./backup-schedule.ts";
import { type RetentionInput, retentionKindName } from "./retention-kind.ts";
import { actorOf, operationsOfSchedule } from "./schedule-operations.ts";

/** Begins the removal of backups that a schedule does not keep, once its backups have ended. */
export type BeginRetention = (schedule: BackupSchedule) => Promise<boolean>;

const openStates = ["scheduled", "active", "undoing"] as const;

/**
 * @returns a function that resolves to true if nothing is left to do until the next slot of the schedule: it has begun the
 *   operation, another gateway has, or nothing was backed up since the last one. It resolves to false while another
 *   operation works on backups on this host, since the two would lock each other out of the repository.
 */
export function createBeginRetention(
  parts: BackupParts,
  starter: OperationStarter<RetentionInput, null>,
): BeginRetention {
  const { store, operations, keys, settings, host } = parts;

  /** Returns when the newest backup of the schedule was completed; undefined without one. */
  async function newestBackupMs(schedule: string): Promise<number | undefined> {
    const filters = { schedule, host };
    const { rows } = await store.run("backups.list", { filters, belowSeq: undefined, limit: 1 });
    const [row] = rows;
    return row && ((await findOperation(operations, row.operation_id))?.endedAtMs ?? row.at);
  }

  return async (schedule) => {
    const { keep, name } = schedule;
    if (keep === undefined || settings.repository === undefined) {
      return true;
    }
    const open = await operationsOfSchedule(parts, { kind: "volumes", states: openStates });
    if (open.length > 0) {
      return false;
    }
    const backupMs = await newestBackupMs(name);
    const resource = `backupSchedules/${name}`;
    const [last] = await operationsOfSchedule(parts, { kind: retentionKindName, resource });
    if (backupMs === undefined || (last !== undefined && last.createdAtMs >= backupMs)) {
      return true;
    }
    const place = localPlace(settings.repository);
    await starter.start({
      resource,
      backend: describePlace(place),
      input: {
        schedule: name,
        host,
        keep: { last: keep.last, daily: keep.daily, weekly: keep.weekly },
        minimumAgeHours: settings.minimumAgeHours,
        place,
        keyName: await keys.find(place),
      },
      secrets: null,
      requester: {
        actor: actorOf(schedule),
        accountId: actorOf(schedule),
        rpc: "hostplane.v1.BackupService/DeleteBackup",
      },
      attachKey: `retention ${host} ${name}`,
    });
    return true;
  };
}
