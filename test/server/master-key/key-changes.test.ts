import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { loadMasterKeys } from "../../../server/crypto/master-keys.ts";
import { sealedColumns } from "../../../server/master-key/sealed-columns.ts";
import { until } from "../harness/until.ts";
import { errorOf } from "../store/contract.ts";
import { makeDirectory } from "../store/store-under-test.ts";
import { testSharedKeyChanges } from "./key-changes-contract.ts";
import {
  assertOnlyNeeds,
  fillWithSecrets,
  fingerprintOf,
  insertSecret,
  keysOf,
  newKey,
  openKeyStore,
  openUnderTest,
  untilChanged,
} from "./key-changes-under-test.ts";

test("a change encrypts every secret again, and names the replaced key until nothing needs it", async (t) => {
  const [first, second] = [newKey(), newKey()];
  const store = await openKeyStore(t, first, { url: "sqlite", directory: await makeDirectory(t) });
  const count = await fillWithSecrets(store, keysOf(first));
  // It never settles, so that the replaced key stays.
  const changes = await openUnderTest(store, keysOf(first, second), { times: { settleMs: 2 ** 30 } });
  t.match(await changes.status(), { current: fingerprintOf(first), old: [], source: "/etc/hostplane/key" });
  const begun = await changes.change();
  t.match(begun, { current: fingerprintOf(second), old: [{ fingerprint: fingerprintOf(first) }] });
  await changes.close();

  await t.test("also by a gateway that starts later", async (t) => {
    const later = await openUnderTest(store, keysOf(first, second));
    t.match(
      later.lines[0],
      new RegExp(`^warn: secrets .* need the replaced master key ${fingerprintOf(first)}`),
    );
    await untilChanged(later);
    await assertOnlyNeeds(t, store, second, count);
    t.match(
      later.lines.at(-1),
      new RegExp(`^info: no secret .* needs the master key ${fingerprintOf(first)}`),
    );
    const { uses } = await later.status();
    t.same(
      uses.map(({ table, fingerprint }) => ({ table, fingerprint })),
      sealedColumns.map(({ table }) => ({ table, fingerprint: fingerprintOf(second) })),
    );
    t.equal(later.storeId, changes.storeId, "the store stays the same one");
    await later.close();
  });

  await t.test("the replaced key is then not needed to start, and the new one is", async (t) => {
    const later = await openUnderTest(store, keysOf(second));
    await later.close();
    t.match(await errorOf(openUnderTest(store, keysOf(first))), {
      reason: "MASTER_KEY_MISMATCH",
      message: new RegExp(
        `uses the master key ${fingerprintOf(second)}, but the given key is ${fingerprintOf(first)}`,
      ),
    });
  });
});

test("a gateway does not start without a replaced key that is still needed", async (t) => {
  const [first, second] = [newKey(), newKey()];
  const place = { url: "sqlite", directory: await makeDirectory(t) };
  const store = await openKeyStore(t, first, place);
  await fillWithSecrets(store, keysOf(first));
  await store.run("masterKeys.begin", { fingerprint: fingerprintOf(second), silentMs: 0 });
  const refusal = {
    reason: "MASTER_KEY_MISMATCH",
    message: new RegExp(
      `still need the replaced master key ${fingerprintOf(first)}.* until \`hostplane store key-status\``,
    ),
  };
  t.match(await errorOf(openUnderTest(store, keysOf(second))), refusal);
  await store.close();
  t.match(await errorOf(openKeyStore(t, second, place)), refusal, "neither does the store open");
});

test("a change is refused with the reason", async (t) => {
  const [first, second, third] = [newKey(), newKey(), newKey()];
  const directory = await makeDirectory(t);
  const store = await openKeyStore(t, first, { url: "sqlite", directory });
  const keyFile = join(directory, "key");
  const write = (text: string) => writeFileSync(keyFile, text, { mode: 0o600 });
  write(`${first}\n`);
  const keys = loadMasterKeys({ environmentKey: undefined, keyFile, defaultFile: "", isStoreNew: false });
  const changes = await openUnderTest(store, keys, { times: { settleMs: 2 ** 30 } });
  const refused = async (message: RegExp) => {
    t.match(await errorOf(changes.change()), { reason: "MASTER_KEY_UNCHANGED", message });
    t.equal((await changes.status()).current, fingerprintOf(first));
  };
  await refused(/not changed: .*, the last key of .*key, is already in use: add a new key after it/);
  write(`${first}\n${second}\n${first}\n`);
  await refused(/key, line 3: repeats the key of line 1/);
  write(`${first}\n${second.slice(0, 30)}\n`);
  await refused(/key, line 2: expected 32 bytes in base64/);
  write("");
  await refused(/expected 32 bytes in base64/);
  write(`${first}\n${second}\n`);
  chmodSync(keyFile, 0o644);
  await refused(/may be read or changed by others \(mode 644\): run chmod 600/);
  chmodSync(keyFile, 0o600);

  write(`${first}\n${second}\n`);
  t.match(await changes.change(), { current: fingerprintOf(second) });
  t.match(
    await changes.change(),
    { current: fingerprintOf(second) },
    "the same change may be requested again",
  );
  write(`${first}\n${second}\n${third}\n`);
  t.match(await errorOf(changes.change()), {
    reason: "MASTER_KEY_UNCHANGED",
    message: new RegExp(`an earlier change has not ended: secrets may still need ${fingerprintOf(first)}`),
  });
  t.equal((await changes.status()).current, fingerprintOf(second));
  await changes.close();
});

test("a secret that cannot be decrypted stays as it is, is reported, and keeps its key needed", async (t) => {
  const [first, second] = [newKey(), newKey()];
  const store = await openKeyStore(t, first, { url: "sqlite", directory: await makeDirectory(t) });
  await fillWithSecrets(store, keysOf(first));
  const [column] = sealedColumns;
  if (column === undefined) {
    throw new Error("there are no columns");
  }
  // It claims to belong to another row.
  await insertSecret(store, keysOf(first), { ...column, context: () => "another row" }, 500);
  const changes = await openUnderTest(store, keysOf(first, second));
  await changes.change();
  await until(() =>
    changes.lines.some((line) => line.startsWith("warn: 1 secrets in the table signing_keys")),
  );
  const { old, unreadable, uses } = await changes.status();
  t.match(old, [{ fingerprint: fingerprintOf(first) }]);
  t.same(unreadable, [{ fingerprint: fingerprintOf(first), table: "signing_keys", count: 1 }]);
  t.same(
    uses.filter(({ fingerprint }) => fingerprint === fingerprintOf(first)),
    [{ fingerprint: fingerprintOf(first), table: "signing_keys", count: 1 }],
    "all others are encrypted again",
  );
  await changes.close();
});

// The gateways of a shared store do the same on both databases; test/lab/postgres has the other one.
test("several gateways on one store", async (t) => {
  testSharedKeyChanges(t, async (t, key) => {
    const store = await openKeyStore(t, key, { url: "sqlite", directory: await makeDirectory(t) });
    const shared = { ...store, isShared: true };
    return [shared, shared];
  });
});
