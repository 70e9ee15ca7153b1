import type { Test } from "tap";
import type { NewBackupRow } from "../../../../../server/backups/store/backups.ts";
import { createBackupMetrics } from "../../../../../server/domains/backups/monitoring/metrics.ts";
import { createScheduleMetrics } from "../../../../../server/domains/volumes/monitoring/schedule-metrics.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { groupOf, stateOf, volumeOf } from "../lvm-state.ts";

const { signal } = new AbortController();

/** Checks the ages of backups that the metrics report, on a store without backups. */
export async function checkBackupAges(t: Test, store: Store): Promise<void> {
  const record = async (id: string, volume: string, ageSeconds: number, host = "alpha") => {
    const backup: NewBackupRow = {
      id,
      name: id,
      volume: `volumeGroups/vg0/volumes/${volume}`,
      host,
      backend: "b",
      volume_uuid: "u",
      size_bytes: 1,
      at: Date.now() - ageSeconds * 1000,
      repository_json: "{}",
      snapshot_id: id,
      key_name: null,
      schedule: null,
      operation_id: "o",
      actor: "user/admin",
    };
    await store.run("backups.record", { backup });
  };
  await record("old", "data", 7200);
  await record("new", "data", 3600);
  await record("damaged", "data", 60);
  await record("other", "data", 10, "beta");
  await record("unscheduled", "scratch", 100);
  await store.run("backups.verified", { id: "damaged", damage: "a pack is missing" });

  const volumes = ["data", "fresh", "scratch"].map((name) => volumeOf("vg0", name));
  const state = { value: stateOf([groupOf("vg0", 0n)], volumes), revision: 1, readAtMs: 0 };
  const scheduled = await createScheduleMetrics({
    store,
    lvm: { readRecent: async () => state },
    deviceClasses: [{ name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 0 }],
    schedules: [{ name: "nightly", volumes: ["data", "fresh"], timeZone: "UTC", everyHours: 24 }],
    host: "alpha",
  }).read(signal);
  t.equal(scheduled.length, 2);
  const ageOf = (name: string) =>
    scheduled.find(({ labels }) => labels.volume === `volumeGroups/vg0/volumes/${name}`)?.value ?? Number.NaN;
  // The clock goes on during the test.
  t.ok(ageOf("data") >= 3600 && ageOf("data") < 3660, `the damaged backup does not count: ${ageOf("data")}`);
  t.equal(ageOf("fresh"), Number.POSITIVE_INFINITY);

  const all = await createBackupMetrics(store).read(signal);
  t.equal(all.find(({ name }) => name === "hostplane_backups_damaged")?.value, 1);
  const ages = all.filter(({ name }) => name === "hostplane_last_good_backup_age_seconds");
  t.same(ages.map(({ labels }) => `${labels.host} ${labels.volume?.split("/").at(-1)}`).toSorted(), [
    "alpha data",
    "alpha scratch",
    "beta data",
  ]);
}
