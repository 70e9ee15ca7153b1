import { Cron } from "croner";
import { createNameMatch } from "../../../../adapters/host/name-match.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { KeepPolicy } from "../../../../adapters/restic/adapter.ts";
import { operationOf } from "../../../backups/lvm/operation-marks.ts";
import { type DeviceClass, resolveClass, volumesOf } from "../device-class.ts";

/** Backups that the gateway makes by itself, in the local repository. Either `cron` or `everyHours` is there. */
export interface BackupSchedule {
  readonly name: string;
  /** Names of volumes, in which `*` and `?` stand for others. */
  readonly volumes: readonly string[];
  /** Absent: of all device classes. */
  readonly deviceClass?: string;
  /** Five fields. */
  readonly cron?: string;
  /** Of `cron`. */
  readonly timeZone: string;
  /** Counted from the epoch on, so that every gateway counts alike. */
  readonly everyHours?: number;
  /** Absent: all are kept. */
  readonly keep?: KeepPolicy;
}

const hourMs = 3_600_000;

/** The newest moment at or before `nowMs` at which the schedule comes; undefined before the first. */
export function latestSlotMs(
  { cron, timeZone, everyHours }: Pick<BackupSchedule, "cron" | "timeZone" | "everyHours">,
  nowMs: number,
): number | undefined {
  if (cron === undefined) {
    const periodMs = (everyHours ?? 1) * hourMs;
    return Math.floor(nowMs / periodMs) * periodMs;
  }
  const pattern = new Cron(cron, { mode: "5-part", timezone: timeZone, paused: true });
  // It looks for what was before a moment, and rounds that up to whole seconds.
  const [latest] = pattern.previousRuns(1, new Date(Math.floor(nowMs / 1000) * 1000 + 1));
  return latest?.getTime();
}

/** What the backups of a slot are called: `nightly-20260131T0200Z`. */
export function slotName({ name }: Pick<BackupSchedule, "name">, slotMs: number): string {
  const minute = new Date(slotMs).toISOString().slice(0, "2026-01-31T02:00".length);
  return `${name}-${minute.replaceAll(/[-:]/g, "")}Z`;
}

/** The volumes that a schedule is about: neither snapshots nor what an operation has made for itself. */
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
