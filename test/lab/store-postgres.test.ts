import { test } from "tap";
import { testStoreContract } from "../server/store/contract.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("PostgreSQL keeps the store's promises", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  testStoreContract(t, async () => ({ options: { url: await postgres.createDatabase(), directory: "" } }));
});
