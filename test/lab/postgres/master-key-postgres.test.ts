import { test } from "tap";
import { testKilledKeyChange } from "../../server/interrupted-changes/killed-key-change.ts";
import { testSharedKeyChanges } from "../../server/master-key/key-changes-contract.ts";
import { openKeyStore } from "../../server/master-key/key-changes-under-test.ts";
import { testKilledChange } from "../../server/master-key/killed-change.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const timeout = 900_000;

test("the master key changes on PostgreSQL", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);

  await t.test("with several gateways", async (t) => {
    testSharedKeyChanges(t, async (t, key) => {
      const place = { url: await postgres.createDatabase(), directory: "" };
      const first = await openKeyStore(t, key, place);
      return [first, await openKeyStore(t, key, place)];
    });
  });

  await t.test("and a change that is killed at any step is finished by the next gateway", async (t) => {
    await testKilledChange(t, { url: await postgres.createDatabase(), directory: "" });
  });

  await t.test("and outlasts kill -9", async (t) => {
    await testKilledKeyChange(t, await postgres.createDatabase());
  });
});
