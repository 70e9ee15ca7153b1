import { test } from "tap";
import { openOwnStore } from "../store/own-store.ts";
import { testPlannedChanges } from "./planned-changes-contract.ts";

test("planned changes of records in SQLite", async (t) => {
  const store = await openOwnStore(t);
  await testPlannedChanges(t, store, store);
});
