import { test } from "tap";
import { testFollowHostContract } from "../../server/fleet/events/follow-host-contract.ts";
import { testFollowedHostContract } from "../../server/fleet/store/followed-hosts-contract.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("PostgreSQL keeps the store's guarantees for the hosts that hubs follow", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  testFollowedHostContract(t, async () => ({ url: await postgres.createDatabase() }));
});

test("hubs that share PostgreSQL follow hosts", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  testFollowHostContract(t, async () => ({ url: await postgres.createDatabase() }));
});
