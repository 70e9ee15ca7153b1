import { test } from "tap";
import { createSeal, sealHeadBytes } from "../../../server/crypto/seal.ts";
import { sealedColumns } from "../../../server/master-key/sealed-columns.ts";
import { makeDirectory } from "../store/store-under-test.ts";
import { assertOnlyNeeds, fillWithSecrets, keysOf, newKey, openKeyStore } from "./key-changes-under-test.ts";

test("secrets of a store from before they named their key name it after the upgrade", async (t) => {
  const key = newKey();
  const place = { url: "sqlite", directory: await makeDirectory(t) };
  const columns = sealedColumns.filter(({ table }) => table !== "digest_keys");
  const old = await openKeyStore(t, key, place, new URL("./earlier-migrations.ts", import.meta.url).href);
  const count = await fillWithSecrets(old, keysOf(key), columns);
  for (const { table, column, keyColumns } of columns) {
    const of = { table, column, keyColumns };
    const values = (await old.run("test.secrets", of)).map((value) => ({
      ...value,
      // The earlier format: its version, and no key.
      replacement: Uint8Array.of(1, ...value.sealed.subarray(sealHeadBytes)),
    }));
    await old.run("sealedValues.replace", { of, values });
    const [first] = await old.run("test.secrets", of);
    t.throws(
      () => createSeal(keysOf(key), "x").open(first?.sealed ?? new Uint8Array(), ""),
      /does not support/,
    );
  }
  await old.close();
  await assertOnlyNeeds(t, await openKeyStore(t, key, place), key, count);
});
