import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { newerModules, newerVersion } from "../../store/newer-program.ts";
import { makeDirectory, openTestStore } from "../../store/store-under-test.ts";
import { appendEach, openStoreWithEvents } from "../store-with-events.ts";
import { testEventContract } from "./events-contract.ts";

test("SQLite fulfills the contract for events", async (t) => testEventContract(t, async () => ({})));

test("a gateway that continues from a backup has a new event epoch", async (t) => {
  const directory = await makeDirectory(t);
  const store = await openStoreWithEvents(t);
  await appendEach(store, [1, 2]);
  await store.backup(join(directory, "hostplane.db"));
  const original = await store.run("events.head", undefined);
  const copy = await (await openStoreWithEvents(t, { directory })).run("events.head", undefined);
  t.match(copy, { epoch: /^[\da-f-]{36}$/, headSeq: 2 });
  t.not(copy.epoch, original.epoch);
});

test("the backup before a migration is the unchanged database", async (t) => {
  const directory = await makeDirectory(t);
  const store = await openStoreWithEvents(t, { directory });
  const { epoch } = await store.run("events.head", undefined);
  await store.close();
  await (await openTestStore(t, { directory, modules: newerModules })).close();
  const before = await makeDirectory(t);
  const name = "hostplane.db";
  writeFileSync(join(before, name), readFileSync(join(directory, `${name}.before-${newerVersion}`)));
  const back = await openStoreWithEvents(t, { directory: before });
  t.equal((await back.run("events.head", undefined)).epoch, epoch);
});
