import { test } from "tap";
import { makeSqlitePlace, testStoreContract } from "./contract.ts";

test("SQLite keeps the store's promises", async (t) => testStoreContract(t, makeSqlitePlace));
