import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createSeal } from "../../../../server/crypto/seal.ts";
import { createAuthState } from "../../../../server/domains/auth/auth-state.ts";
import {
  ensureSigningKey,
  rotateSigningKey,
  signingKeyPurpose,
} from "../../../../server/domains/auth/sessions/signing-keys.ts";
import { hashToken } from "../../../../server/domains/auth/tokens/token-hash.ts";
import { storeReasons } from "../../../../server/store/reasons.ts";
import type { Store } from "../../../../server/store/store.ts";
import { addUser, masterKeys, openAuthStore } from "./auth-under-test.ts";

const keySeal = createSeal(masterKeys, signingKeyPurpose);
const onFailed = () => {};

/** Returns the store as another gateway sees it, without notifications of commits. */
const unnotified = (store: Store): Store => ({ ...store, isShared: true, subscribe: () => () => {} });

test("refresh shows everything that was committed before it", async (t) => {
  const store = await openAuthStore(t);
  const state = await createAuthState({ store, keySeal, host: "host-1", onFailed });
  t.teardown(() => state.close());
  t.match(state.userByName("admin"), { role: "admin", services: undefined });
  t.equal(state.userByName("alice"), undefined);
  const id = await addUser(store, "alice", "viewer", "CN=alice");
  await state.refresh();
  t.match(state.userById(id), { name: "alice", role: "viewer", passwordHash: undefined });
  t.equal(state.userByCertificateName("CN=alice"), state.userById(id));

  await store.run("users.update", { name: "alice", change: { certificateNames: [], services: ["a.B"] } });
  await store.run("users.update", { name: "admin", change: { certificateNames: ["CN=alice"] } });
  await state.refresh();
  t.equal(
    state.userByCertificateName("CN=alice")?.name,
    "admin",
    "a certificate name may move to another user",
  );
  t.same([...(state.userById(id)?.services ?? [])], ["a.B"]);

  await store.run("users.remove", { name: "alice" });
  await state.refresh();
  t.same([state.userById(id), state.userByName("alice")], [undefined, undefined]);
});

test("each of many concurrent refreshes shows the commit before it", async (t) => {
  const store = await openAuthStore(t);
  const state = await createAuthState({ store: unnotified(store), keySeal, host: "host-1", onFailed });
  t.teardown(() => state.close());
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      await addUser(store, `user-${index}`, "viewer", `CN=${index}`);
      await state.refresh();
      t.ok(state.userByName(`user-${index}`), `user-${index}`);
    }),
  );
});

test("API tokens are found by their hash, also when they are revoked", async (t) => {
  const store = await openAuthStore(t);
  const state = await createAuthState({ store, keySeal, host: "host-1", onFailed });
  t.teardown(() => state.close());
  const hash = hashToken("hpt_x");
  const token = {
    name: "ci",
    role: "operator",
    services: ["a.B"],
    createdBy: "user/admin",
    lifetimeMs: 1000,
  };
  await store.run("apiTokens.create", { id: "t-1", hash, ...token });
  await state.refresh();
  t.match(state.apiTokenByHash(hash), { id: "t-1", name: "ci", role: "operator", isRevoked: false });
  t.ok((state.apiTokenByHash(hash)?.expiresAtMs ?? 0) > Date.now() - 5000);
  await store.run("apiTokens.revoke", { name: "ci" });
  await state.refresh();
  t.match(state.apiTokenByHash(hash), { isRevoked: true });
  t.equal(state.apiTokenByHash(hashToken("hpt_y")), undefined);
});

test("a key verifies until the last token that it has signed expires", async (t) => {
  const store = await openAuthStore(t);
  await Promise.all([ensureSigningKey(store, keySeal), ensureSigningKey(store, keySeal)]);
  const state = await createAuthState({ store, keySeal, host: "host-1", onFailed });
  t.teardown(() => state.close());
  const userId = state.userByName("admin")?.id ?? "";
  const passwordHash = state.userByName("admin")?.passwordHash ?? null;
  const opened = await store.run("sessions.open", { userId, passwordHash, lifetimeMs: 60_000 });
  if (!opened.ok) {
    throw new Error("no session");
  }
  const second = await rotateSigningKey(store, keySeal);
  await state.refresh();
  t.equal(state.signingKey(opened.signingKeyId)?.secret.length, 32);
  t.ok((state.signingKey(opened.signingKeyId)?.verifyUntilMs ?? 0) > opened.expiresAtMs);
  const third = await rotateSigningKey(store, keySeal);
  await state.refresh();
  t.equal(state.signingKey(second), undefined, "a key that signed nothing is not needed");
  t.ok(state.signingKey(opened.signingKeyId));
  t.ok(state.signingKey(third));
  const next = await store.run("sessions.open", { userId, passwordHash, lifetimeMs: 60_000 });
  t.match(next, { ok: true, signingKeyId: third });
});

test("a session is not opened if the password has changed meanwhile", async (t) => {
  const store = await openAuthStore(t);
  await ensureSigningKey(store, keySeal);
  const user = (await store.run("users.list", undefined))[0];
  const args = { userId: user?.id ?? "", passwordHash: "another", lifetimeMs: 1000 };
  t.same(await store.run("sessions.open", args), { ok: false });
});

test("another master key cannot decrypt a signing key", async (t) => {
  const store = await openAuthStore(t);
  await ensureSigningKey(store, createSeal(masterKeys, "another"));
  await t.rejects(
    createAuthState({ store, keySeal, host: "host-1", onFailed }),
    /cannot be decrypted with its master key/,
  );
});

test("other gateways see a change within a second", async (t) => {
  const store = await openAuthStore(t);
  const other = await createAuthState({ store: unnotified(store), keySeal, host: "host-1", onFailed });
  t.teardown(() => other.close());
  await store.run("sessions.revoke", { jti: "s-1", accountId: "a", expiresAtMs: Date.now() + 60_000 });
  t.notOk(other.isRevoked("s-1"));
  const beganAtMs = performance.now();
  while (!other.isRevoked("s-1") && performance.now() - beganAtMs < 20_000) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.ok(other.isRevoked("s-1"));
});

test("during an outage of a shared store, the last read is valid for a while, and then all logins are refused", async (t) => {
  const store = await openAuthStore(t);
  const gone = new InfraError(storeReasons.STORE_UNAVAILABLE, "the database cannot be reached");
  let isGone = false;
  const failures: unknown[] = [];
  const shared: Store = {
    ...unnotified(store),
    run: (name, args) => (isGone ? Promise.reject(gone) : store.run(name, args)),
  };
  const state = await createAuthState({
    store: shared,
    keySeal,
    host: "host-1",
    onFailed: (error) => failures.push(error),
    maxAgeMs: 2500,
  });
  t.teardown(() => state.close());
  isGone = true;
  t.ok(state.userByName("admin"));
  const beganAtMs = performance.now();
  let refusal: unknown;
  while (refusal === undefined && performance.now() - beganAtMs < 30_000) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    try {
      state.userByName("admin");
    } catch (error) {
      refusal = error;
    }
  }
  t.match(refusal, { reason: "STORE_UNAVAILABLE", retryable: true });
  t.same(failures, [gone], "reported once");
  isGone = false;
  await state.refresh();
  t.ok(state.userByName("admin"), "back with the store");
});
