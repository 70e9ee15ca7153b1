import { test } from "tap";
import { testKilledWrites } from "../server/killed-writes.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("no acknowledged user, token or logout is lost by kill -9, on PostgreSQL", {
  skip,
  timeout: 3_000_000,
}, async (t) => {
  const postgres = await startPostgres(t);
  await testKilledWrites(t, await postgres.createDatabase());
});
