import { test } from "tap";
import { openOwnStore } from "../../store/own-store.ts";
import { testAuditContract } from "./audit-contract.ts";

test("on SQLite", async (t) => testAuditContract(t, openOwnStore));
