import { test } from "tap";
import { testApprovals } from "../../server/domains/plan/approvals-contract.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("approvals in PostgreSQL", skip === false ? {} : { skip }, async (t) => {
  const cluster = await startPostgres(t);
  await testApprovals(t, await openOwnStore(t, { url: await cluster.createDatabase() }));
});
