import { Cron } from "croner";
import { createNameMatch } from "../../../../../adapters/host/name-match.ts";
import type { LogicalVolume, LvmState } from "../../../../../adapters/lvm/adapter.ts";
import type { KeepPolicy } from "../../../../../adapters/restic/adapter.ts";
import { operationOf } from "../../../../lvm/operation-marks.ts";
import { type DeviceClass, resolveClass, volumesOf } from "../../device-class.ts";

/** A schedule of automatic backups to the local repository. Either `cron` or `everyHours` is set. */
export interface BackupSchedule {
  readonly name: string;
  /** Name patterns of volumes, with the wildcards `*` and `?`. */
  readonly volumes: readonly string[];
  /** Absent: all device classes. */
  readonly deviceClass?: string;
  /** Cron expression with five fields. */
  readonly cron?: string;
  /** Time zone of `cron`. */
  readonly timeZone: string;
  /** Interval in hours, aligned to the Unix epoch, so that every gateway computes the same slots. */
  readonly everyHours?: number;
  /** Absent: all backups are kept. */
  readonly keep?: KeepPolicy;
}

const hourMs = 3_600_000;

/** Returns the newest slot of the schedule at or before `nowMs`; undefined before the first slot. */
export function latestSlotMs(
  { cron, timeZone, everyHours }: Pick<BackupSchedule, "cron" | "timeZone" | "everyHours">,
  nowMs: number,
): number | undefined {
  if (cron === undefined) {
    const periodMs = (everyHours ?? 1) * hourMs;
    return Math.floor(nowMs / periodMs) * periodMs;
  }
  const pattern = new Cron(cron, { mode: "5-part", timezone: timeZone, paused: true });
  // `previousRuns` searches strictly before the given time, which it rounds up to whole seconds.
  const [latest] = pattern.previousRuns(1, new Date(Math.floor(nowMs / 1000) * 1000 + 1));
  return latest?.getTime();
}

/** Returns the name of the backups of a slot, for example `nightly-20260131T0200Z`. */
export function slotName({ name }: Pick<BackupSchedule, "name">, slotMs: number): string {
  const minute = new Date(slotMs).toISOString().slice(0, "2026-01-31T02:00".length);
  return `${name}-${minute.replaceAll(/[-:]/g, "")}Z`;
}

/** Returns the volumes that a schedule covers, without snapshots and volumes that an operation created for itself. */
export function volumesOfSchedule(
  { volumes, deviceClass }: Pick<BackupSchedule, "volumes" | "deviceClass">,
  deviceClasses: readonly DeviceClass[],
  state: LvmState,
): LogicalVolume[] {
  const isMeant = createNameMatch(volumes);
  const served = deviceClasses
    .filter(({ name }) => deviceClass === undefined || name === deviceClass)
    .flatMap((one) => {
      const resolved = resolveClass(one, state);
      return resolved === undefined ? [] : volumesOf(resolved, state);
    });
  return [...new Set(served)].filter(
    (volume) => isMeant(volume.name) && volume.kind !== "snapshot" && operationOf(volume) === undefined,
  );
}
