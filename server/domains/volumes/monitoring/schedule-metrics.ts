import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import type { MetricSource } from "../../../domain/metric-source.ts";
import type { Store } from "../../../store/store.ts";
import { type BackupSchedule, volumesOfSchedule } from "../backups/schedules/backup-schedule.ts";
import { resourceOf } from "../backups/volume-handle.ts";
import type { DeviceClass } from "../device-class.ts";

const age = "hostplane_scheduled_backup_age_seconds";

export interface ScheduleMetricsOptions {
  readonly lvm: Pick<LvmAdapter, "readRecent">;
  readonly store: Pick<Store, "run">;
  readonly deviceClasses: readonly DeviceClass[];
  readonly schedules: readonly BackupSchedule[];
  readonly host: string;
}

/** For each volume of a schedule, the age of its last backup that is not damaged; infinite if there is none. */
export function createScheduleMetrics(options: ScheduleMetricsOptions): MetricSource {
  const { lvm, store, deviceClasses, schedules, host } = options;
  return {
    families: [
      {
        name: age,
        help: "Age of the last good backup of a volume that a schedule backs up; +Inf if it has none.",
        labels: ["schedule", "volume"],
      },
    ],
    async read(signal) {
      const { value: state } = await lvm.readRecent(signal);
      const { rows, nowMs } = await store.run("backups.newestGood", { host });
      const newestMs = new Map(rows.map((row) => [row.volume, row.at]));
      return schedules.flatMap((schedule) =>
        volumesOfSchedule(schedule, deviceClasses, state).map((each) => {
          const volume = resourceOf(each);
          const atMs = newestMs.get(volume) ?? Number.NEGATIVE_INFINITY;
          return { name: age, labels: { schedule: schedule.name, volume }, value: (nowMs - atMs) / 1000 };
        }),
      );
    },
  };
}
