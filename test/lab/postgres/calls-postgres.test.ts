import { test } from "tap";
import { testAuditContract } from "../../server/domains/audit/audit-contract.ts";
import { testIdempotencyContract } from "../../server/rpc/interceptors/idempotency-contract.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const timeout = 300_000;

test("the audit log on PostgreSQL", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  testAuditContract(t, async (t) => openOwnStore(t, { url: await postgres.createDatabase() }));
});

test("idempotency keys of two gateways on one PostgreSQL", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);
  testIdempotencyContract(t, async (t) => {
    const url = await postgres.createDatabase();
    return [await openOwnStore(t, { url }), await openOwnStore(t, { url })];
  });
});
