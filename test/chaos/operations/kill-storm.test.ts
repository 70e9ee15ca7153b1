import { join } from "node:path";
import { test } from "tap";
import { openOwnStore } from "../../server/store/own-store.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { assertCalm, killsOr, storm } from "./storm.ts";
import { openStormEffects } from "./storm-kind.ts";

test("all operations of a gateway killed at any moment end, either done once or undone", async (t) => {
  const directory = await makeDirectory(t);
  const effects = join(directory, "effects");
  openStormEffects(effects);
  const report = await storm(t, {
    url: "sqlite",
    directory,
    effects,
    leaseMs: 10_000,
    kills: killsOr(8),
    processes: 1,
  });
  const store = await openOwnStore(t, { directory, keyCheck: "storm" });
  await assertCalm(t, store, { effects, report });
});
