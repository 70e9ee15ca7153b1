import { test } from "tap";
import { testKilledWrites } from "../../server/interrupted-changes/killed-writes.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("kill -9 loses no acknowledged user, token or logout on PostgreSQL", {
  skip,
  timeout: 3_000_000,
}, async (t) => {
  const postgres = await startPostgres(t);
  await testKilledWrites(t, await postgres.createDatabase());
});
