import { test } from "tap";
import { openOwnStore } from "../../store/own-store.ts";
import { testApprovals } from "./approvals-contract.ts";

test("approvals in SQLite", async (t) => testApprovals(t, await openOwnStore(t)));
