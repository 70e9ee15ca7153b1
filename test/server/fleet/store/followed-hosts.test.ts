import { test } from "tap";
import { testFollowedHostContract } from "./followed-hosts-contract.ts";

test("SQLite keeps the store's guarantees for the hosts that hubs follow", async (t) => {
  testFollowedHostContract(t, async () => ({}));
});
