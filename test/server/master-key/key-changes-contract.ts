import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { loadMasterKeys } from "../../../server/crypto/master-keys.ts";
import { sealedColumns } from "../../../server/master-key/sealed-columns.ts";
import { until } from "../harness/until.ts";
import { errorOf } from "../store/contract.ts";
import { makeDirectory } from "../store/store-under-test.ts";
import {
  assertOnlyNeeds,
  fillWithSecrets,
  fingerprintOf,
  insertSecret,
  type KeyStore,
  keysOf,
  newKey,
  openUnderTest,
  untilChanged,
} from "./key-changes-under-test.ts";

/** A gateway that is not taken for gone, however slow the machine is. */
const times = { silentMs: 60_000, patienceMs: 100 };

/**
 * Tests changes of the master key with two gateways on one store.
 * @param openStores opens the store for each of them; it is created with the key
 */
export function testSharedKeyChanges(
  t: Test,
  openStores: (t: Test, key: string) => Promise<readonly [KeyStore, KeyStore]>,
): void {
  t.test("the key changes only once every gateway has the new one", async (t) => {
    const [first, second] = [newKey(), newKey()];
    const stores = await openStores(t, first);
    const count = await fillWithSecrets(stores[0], keysOf(first));
    const keyFile = join(await makeDirectory(t), "key");
    writeFileSync(keyFile, `${first}\n`, { mode: 0o600 });
    const keysOfB = loadMasterKeys({
      environmentKey: undefined,
      keyFile,
      defaultFile: "",
      isStoreNew: false,
    });
    const a = await openUnderTest(stores[0], keysOf(first, second), { times });
    const b = await openUnderTest(stores[1], keysOfB, { host: "host-2", times });
    t.match(await errorOf(a.change()), {
      reason: "MASTER_KEY_UNCHANGED",
      message: new RegExp(`these gateways do not have the key ${fingerprintOf(second)}: host-2\\.`),
    });
    t.match(await a.status(), { current: fingerprintOf(first), old: [] });
    t.same(keysOfB.fingerprints, [fingerprintOf(first)]);

    writeFileSync(keyFile, `${first}\n${second}\n`);
    // The other gateway reads its keys again, however long that takes here.
    while ((await a.change().catch(() => undefined)) === undefined) {
      t.equal((await a.status()).current, fingerprintOf(first));
    }
    await untilChanged(a);
    t.equal(keysOfB.current.fingerprint, fingerprintOf(second), "the other gateway has followed");
    await assertOnlyNeeds(t, stores[0], second, count);
    t.same([a.lost, b.lost], [[], []]);
    await Promise.all([a.close(), b.close()]);
  });

  t.test("what another gateway still encrypts with the replaced key is encrypted again", async (t) => {
    const [first, second] = [newKey(), newKey()];
    const stores = await openStores(t, first);
    const count = await fillWithSecrets(stores[0], keysOf(first));
    const a = await openUnderTest(stores[0], keysOf(first, second), { times });
    const keysOfB = keysOf(first, second);
    // It follows, but what it has encrypted before may arrive for as long as it likes.
    const b = await openUnderTest(stores[1], keysOfB, {
      host: "host-2",
      times: { ...times, settleMs: 2 ** 30 },
    });
    await a.change();
    const late = sealedColumns[0];
    if (late === undefined) {
      throw new Error("there are no columns");
    }
    await insertSecret(stores[1], keysOf(first), late, 900);
    await until(() => keysOfB.current.fingerprint === fingerprintOf(second));
    const status = await a.status();
    t.match(status.old, [{ fingerprint: fingerprintOf(first) }], "the replaced key is still needed");
    t.same(status.gateways, [{ host: "host-2", isBehind: true }]);
    await b.close();
    await untilChanged(a);
    await assertOnlyNeeds(t, stores[0], second, count + 1);
    await a.close();
  });

  t.test("a gateway that has slept through a change stops if it lacks the key", async (t) => {
    const [first, second] = [newKey(), newKey()];
    const stores = await openStores(t, first);
    let wake = () => {};
    const b = await openUnderTest(
      {
        ...stores[1],
        subscribe(_topic, onChange) {
          wake = onChange;
          return () => {};
        },
      },
      keysOf(first),
      { host: "host-2", times: { ...times, renewMs: 2 ** 30 } },
    );
    // As if it had been silent for too long.
    await stores[0].run("masterKeys.leave", { instanceId: await onlyHolder(stores[0]) });
    const a = await openUnderTest(stores[0], keysOf(first, second), { times });
    await a.change();
    t.same(b.lost, []);
    wake();
    await until(() => b.lost.length > 0);
    t.match(b.lost[0], {
      reason: "MASTER_KEY_MISMATCH",
      message: new RegExp(
        `uses the master key ${fingerprintOf(second)}, but the given key is ${fingerprintOf(first)}`,
      ),
    });
    await Promise.all([a.close(), b.close()]);
  });

  t.test("gateways begin the same change at once", async (t) => {
    const [first, second] = [newKey(), newKey()];
    const stores = await openStores(t, first);
    const count = await fillWithSecrets(stores[0], keysOf(first));
    const open = (store: KeyStore, host: string) =>
      openUnderTest(store, keysOf(first, second), { host, times });
    const [a, b] = [await open(stores[0], "host-1"), await open(stores[1], "host-2")];
    await Promise.all([a.change(), b.change()]);
    await Promise.all([untilChanged(a), untilChanged(b)]);
    await assertOnlyNeeds(t, stores[1], second, count);
    await Promise.all([a.close(), b.close()]);
  });
}

async function onlyHolder(store: KeyStore): Promise<string> {
  const { holders } = await store.run("masterKeys.read", { silentMs: 60_000 });
  return holders[0]?.instanceId ?? "";
}
