import type { Test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { StoreOptions } from "../../../server/store/open-store.ts";
import { makeDirectory, openTestStore } from "./store-under-test.ts";

/** Location of the stores of one test. */
export interface Place {
  /** Options of a new database. */
  readonly options: Pick<StoreOptions, "url" | "directory">;
}

/** Tests what every store guarantees, whichever database it uses. */
export function testStoreContract(t: Test, makePlace: (t: Test) => Promise<Place>): void {
  t.test("a transaction is committed as a whole or not at all", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    t.equal(await store.run("counter.add", { name: "a", by: 2 }), 2);
    const fault = await errorOf(store.run("counter.fail", { name: "b" }));
    t.match(fault, { reason: "INTERNAL", message: "the transaction counter.fail failed" });
    t.match((fault.cause as Error).message, "the fault of b");
    t.equal(await store.run("counter.read", { name: "b" }), undefined);
    t.equal(await store.run("counter.read", { name: "a" }), 2, "the earlier transaction is kept");
  });

  t.test("a failed transaction does not affect the others", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    const runs = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? store.run("counter.add", { name: `a${index}`, by: 1 })
        : store.run("counter.fail", { name: `a${index}` }),
    );
    const outcomes = await Promise.allSettled(runs);
    for (const [index, { status }] of outcomes.entries()) {
      t.equal(status, index % 2 === 0 ? "fulfilled" : "rejected");
      const kept = await store.run("counter.read", { name: `a${index}` });
      t.equal(kept, index % 2 === 0 ? 1 : undefined);
    }
  });

  t.test("concurrent read-modify-write transactions all count", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    await Promise.all(Array.from({ length: 50 }, () => store.run("counter.add", { name: "a", by: 1 })));
    t.equal(await store.run("counter.read", { name: "a" }), 50);
  });

  t.test("of concurrent claims on something that was read as free, one succeeds", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        store.run("claim.take", { prefix: "claim/", name: String(index) }),
      ),
    );
    t.equal(claims.filter(({ ok }) => ok).length, 1);
  });

  t.test("versions are assigned one after another", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    let calls = 0;
    store.subscribe("auth", () => {
      calls += 1;
    });
    const versions = await Promise.all(
      Array.from({ length: 10 }, () => store.run("version.take", undefined)),
    );
    t.same(
      versions.toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    t.equal(calls, 10, "each notifies auth");
  });

  t.test("subscribers are called before run resolves, and only for committed transactions", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    const calls: string[] = [];
    const end = store.subscribe("auth", () => calls.push("auth"));
    store.subscribe("audit", () => calls.push("audit"));
    await store.run("topic.notify", { topics: ["auth", "auth"] });
    t.same(calls, ["auth"]);
    await store.run("topic.notify", { topics: ["audit"] });
    t.same(calls, ["auth", "audit"]);
    await t.rejects(store.run("topic.fail", { topic: "auth" }));
    end();
    await store.run("topic.notify", { topics: ["auth"] });
    t.same(calls, ["auth", "audit"]);
  });

  t.test("values survive a round trip unchanged", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const number = Number.MAX_SAFE_INTEGER;
    await store.run("values.echo", { text: "a", bytes: new Uint8Array(), number: -1 });
    const row = await store.run("values.echo", { text: "Ä😀'\"\\", bytes, number });
    t.same(row, {
      id: "Ä😀'\"\\",
      secret_sealed: bytes,
      created_at: number,
      retired_at: null,
      verify_until: null,
      version: 1,
      count: 2,
      sum: 2,
      ids: ["a", "Ä😀'\"\\"],
    });
    t.equal(Object.getPrototypeOf(row.secret_sealed), Uint8Array.prototype);
    await store.run("values.echo", { text: "B", bytes, number });
    const { ids } = await store.run("values.echo", { text: "_", bytes, number });
    t.same(ids, ["B", "_", "a", "Ä😀'\"\\"], "text is sorted by its bytes");
    const refused = await errorOf(store.run("values.echo", { text: "a\0b", bytes, number }));
    t.equal(refused.reason, "INTERNAL", "both refuse text with a NUL");
  });

  t.test("the clock advances", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    const before = await store.run("clock.read", undefined);
    t.ok(Number.isInteger(before) && Math.abs(before - Date.now()) < 60_000);
    t.ok((await store.run("clock.read", undefined)) >= before);
  });

  t.test("errors contain no values of rows", async (t) => {
    const store = await openTestStore(t, (await makePlace(t)).options);
    const fault = await errorOf(store.run("counter.duplicate", { name: "private-name" }));
    const reported = JSON.stringify({ ...fault, message: fault.message, stack: fault.stack });
    const cause = fault.cause as Error;
    const serializedCause = JSON.stringify({ ...cause, message: cause.message, stack: cause.stack });
    t.notMatch(`${reported}${serializedCause}`, /secret value|private-name/);
    t.match(cause.message, /unique/i, "but the cause is named");
  });

  t.test("a closed store refuses calls, and earlier transactions are kept", async (t) => {
    const { options } = await makePlace(t);
    const store = await openTestStore(t, options);
    const runs = Array.from({ length: 10 }, () => store.run("counter.add", { name: "a", by: 1 }));
    await Promise.all([store.close(), store.close()]);
    await Promise.all(runs);
    t.equal((await errorOf(store.run("counter.read", { name: "a" }))).reason, "SHUTTING_DOWN");
    const next = await openTestStore(t, options);
    t.equal(await next.run("counter.read", { name: "a" }), 10);
  });

  t.test("a database can only be used with the kind and key that it was created with", async (t) => {
    const { options } = await makePlace(t);
    const missing = await errorOf(openTestStore(t, { ...options, createIfMissing: false }));
    t.equal(missing.reason, "STORE_MISSING");
    await (await openTestStore(t, options)).close();
    const otherKind = await errorOf(openTestStore(t, { ...options, kind: "sandbox" }));
    t.match(otherKind, {
      reason: "STORE_KIND_MISMATCH",
      message: /belongs to a real gateway, but this is a sandbox gateway/,
    });
    const otherKey = await errorOf(openTestStore(t, { ...options, keyCheck: "key-2" }));
    t.match(otherKey, {
      reason: "MASTER_KEY_MISMATCH",
      message: /master key key-1, but the given key is key-2/,
    });
    await openTestStore(t, { ...options, createIfMissing: false });
  });

  t.test(
    "an older database gets the new tables and keeps its rows; the older program then refuses it",
    async (t) => {
      const { options } = await makePlace(t);
      const older = await openTestStore(t, options);
      await older.run("counter.add", { name: "a", by: 7 });
      await older.close();
      const { newerModules, brokenModules, newerVersion } = await import("./newer-program.ts");
      const broken = await errorOf(openTestStore(t, { ...options, modules: brokenModules }));
      t.ok(["INTERNAL", "STORE_UNAVAILABLE"].includes(broken.reason), "a failing migration stops the start");
      const again = await openTestStore(t, options);
      t.equal(await again.run("counter.read", { name: "a" }), 7, "and changes nothing");
      await again.close();
      const newer = await openTestStore(t, { ...options, modules: newerModules });
      t.equal(await newer.run("counter.read", { name: "a" }), 7);
      t.equal(await newer.run("counter.read", { name: "migrated" }), 1);
      await newer.close();
      const refused = await errorOf(openTestStore(t, options));
      t.match(refused, {
        reason: "STORE_NEWER",
        message: new RegExp(`schema version ${newerVersion}; this version supports ${newerVersion - 1}`),
      });
    },
  );
}

/** Returns the error of a rejected promise, which must be an InfraError. */
export async function errorOf(promise: Promise<unknown>): Promise<InfraError> {
  const error = await promise.then(
    () => new Error("it was not rejected"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof InfraError)) {
    throw error;
  }
  return error;
}

/** Creates a separate directory for each store, as SQLite needs it. */
export async function makeSqlitePlace(t: Test): Promise<Place> {
  return { options: { url: "sqlite", directory: await makeDirectory(t) } };
}
