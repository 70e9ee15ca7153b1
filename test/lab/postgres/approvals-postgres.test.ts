import { test } from "tap";
import { testPlannedChanges } from "../../server/domain/planned-changes-contract.ts";
import { testApprovals } from "../../server/domains/plan/approvals-contract.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

const options = skip === false ? {} : { skip };

test("approvals in PostgreSQL", options, async (t) => {
  const cluster = await startPostgres(t);
  const url = await cluster.createDatabase();
  await testApprovals(t, await openOwnStore(t, { url }), await openOwnStore(t, { url }));
});

test("planned changes of records of two gateways in PostgreSQL", options, async (t) => {
  const cluster = await startPostgres(t);
  const url = await cluster.createDatabase();
  await testPlannedChanges(t, await openOwnStore(t, { url }), await openOwnStore(t, { url }));
});
