import tap, { test } from "tap";
import { checkBackupAges } from "../../server/domains/volumes/backups/backup-ages.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

tap.setTimeout(120_000);

test("metrics of backups and of the store's size on PostgreSQL", {
  skip: reasonToSkipPostgres(),
}, async (t) => {
  const postgres = await startPostgres(t);
  const store = await openOwnStore(t, { url: await postgres.createDatabase() });
  const { sizeBytes } = await store.run("store.size", {});
  t.ok(sizeBytes > 1_000_000, `${sizeBytes} bytes`);
  await checkBackupAges(t, store);
});
