import { Registry } from "@prometheus-io/client";
import { test } from "tap";
import { createStoreMetrics } from "../../../server/observability/store-metrics.ts";

const store = { isWritable: () => true, readDisk: undefined, readSizeBytes: async () => 4096 };
const copyAge = "hostplane_store_backup_age_seconds";

test("the age of the last copy is exported where copies are scheduled", async (t) => {
  const registry = new Registry();
  let copyMs: number | undefined;
  const collect = createStoreMetrics(registry, { ...store, readNewestCopyMs: async () => copyMs });
  await collect();
  t.match(await registry.metrics(), `${copyAge} +Inf`, "no copy");
  copyMs = Date.now() - 90_000;
  await collect();
  const [, seconds] = new RegExp(`^${copyAge} (\\S+)$`, "m").exec(await registry.metrics()) ?? [];
  t.ok(Number(seconds) >= 90, `age ${seconds} s`);
});

test("a store without a schedule has no such metric", async (t) => {
  const registry = new Registry();
  await createStoreMetrics(registry, store)();
  t.notMatch(await registry.metrics(), copyAge);
});
