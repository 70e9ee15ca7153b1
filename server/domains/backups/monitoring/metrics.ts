import type { MetricSource } from "../../../domain/metric-source.ts";
import type { Store } from "../../../store/store.ts";

const age = "hostplane_last_good_backup_age_seconds";
const damaged = "hostplane_backups_damaged";

/** The backups in the store, of every host that uses it. */
export function createBackupMetrics(store: Pick<Store, "run">): MetricSource {
  return {
    families: [
      {
        name: age,
        help: "Age of the newest backup of a volume that is not known to be damaged.",
        labels: ["host", "volume"],
      },
      { name: damaged, help: "Backups whose verification found damage.", labels: [] },
    ],
    async read() {
      const { rows, damagedCount, nowMs } = await store.run("backups.newestGood", {});
      return [
        ...rows.map(({ host, volume, at }) => ({
          name: age,
          labels: { host, volume },
          value: (nowMs - at) / 1000,
        })),
        { name: damaged, labels: {}, value: damagedCount },
      ];
    },
  };
}
