import { test } from "tap";
import { makeDirectory, openTestStore } from "./store-under-test.ts";
import { assertNothingLost, killRounds, startWriter } from "./writer.ts";

test("no acknowledged write is lost when the process is killed", async (t) => {
  const directory = await makeDirectory(t);
  for (let round = 1; round <= killRounds; round += 1) {
    const writer = startWriter(t, "sqlite", directory);
    await writer.untilAcknowledged(1 + Math.floor(Math.random() * 2000));
    const report = await writer.kill();
    const store = await openTestStore(t, { directory });
    await assertNothingLost(t, store, report, `round ${round}`);
    await store.close();
  }
});
