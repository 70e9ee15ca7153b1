import { test } from "tap";
import { sealedColumns } from "../../../server/master-key/sealed-columns.ts";
import { makeDirectory } from "../store/store-under-test.ts";
import { newKey, openKeyStore } from "./key-changes-under-test.ts";

test("every column with bytes holds hashes, or secrets that a change of the master key encrypts again", async (t) => {
  const store = await openKeyStore(t, newKey(), { url: "sqlite", directory: await makeDirectory(t) });
  const columns = await store.run("test.byteColumns", undefined);
  t.same(
    columns.filter((name) => !/[._]hash$/.test(name)).toSorted(),
    sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(),
  );
  t.ok(columns.length > sealedColumns.length);
});

test("the purposes differ, so that no secret opens in another table", async (t) => {
  t.equal(new Set(sealedColumns.map(({ purpose }) => purpose)).size, sealedColumns.length);
});
