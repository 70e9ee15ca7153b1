import { test } from "tap";
import { testFollowedHostContract } from "../../server/fleet/store/followed-hosts-contract.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("PostgreSQL keeps the store's guarantees for the hosts that hubs follow", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  testFollowedHostContract(t, async () => ({ url: await postgres.createDatabase() }));
});
