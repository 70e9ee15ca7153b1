import { join } from "node:path";
import { test } from "tap";
import { assertCalm, killsOr, storm } from "../../chaos/operations/storm.ts";
import { openStormEffects } from "../../chaos/operations/storm-kind.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("all operations of three gateways killed at any moment end, either done once or undone", {
  skip,
  timeout: 3_600_000,
}, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const directory = await makeDirectory(t);
  const effects = join(directory, "effects");
  openStormEffects(effects);
  const kills = killsOr(10);
  const report = await storm(t, { url, directory, effects, leaseMs: 3_000, kills, processes: 3 });
  const store = await openOwnStore(t, { url, directory, keyCheck: "storm" });
  await assertCalm(t, store, { effects, report });
});
