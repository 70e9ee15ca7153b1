import { test } from "tap";
import { testFollowHostContract } from "./follow-host-contract.ts";

test("a hub with SQLite follows hosts", async (t) => {
  testFollowHostContract(t, async () => ({}));
});
