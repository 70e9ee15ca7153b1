import fc from "fast-check";
import { test } from "tap";
import { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import type { Store } from "../../../../server/store/store.ts";
import { codePoint } from "../../../code-point.ts";
import { addUser, bearer, errorOf, openAuthStore, reasonOf, startAuth } from "./auth-under-test.ts";

const json = { "content-type": "application/json" };
const ownOrigin = { origin: "http://127.0.0.1:0" };

test("a session token identifies the caller; the scheme is case-insensitive", async (t) => {
  const { caller, logIn } = await startAuth(t, await openAuthStore(t));
  const { token, accountId } = await logIn("admin");
  const expected = {
    actor: "user/admin",
    accountId,
    role: "admin",
    services: undefined,
    credential: "session",
  };
  t.match(await caller(bearer(token)), expected);
  t.match(await caller({ authorization: `bEARER   ${token} ` }), expected);
  t.match((await caller(bearer(token))).current(), expected);
});

test("an API token identifies the caller, and its use is recorded", async (t) => {
  const { auth, caller } = await startAuth(t, await openAuthStore(t));
  const spec = {
    name: "ci",
    role: "operator",
    services: ["proto.VGService"],
    createdBy: "user/admin",
  } as const;
  const { token, record } = await auth.apiTokens.create({ ...spec, lifetimeMs: undefined });
  const who = await caller(bearer(token));
  t.match(who, { actor: "token/ci", accountId: record.id, role: "operator", credential: "apiToken" });
  t.same([...(who.services ?? [])], ["proto.VGService"]);
  t.equal((await auth.apiTokens.list())[0]?.lastUsedAtMs, null, "no call waits for that");
  await auth.close();
  t.ok((await auth.apiTokens.list())[0]?.lastUsedAtMs);
  await auth.apiTokens.revoke("ci");
  t.equal(await reasonOf(caller(bearer(token))), "TOKEN_REVOKED");
  t.throws(() => who.current(), /revoked/);
});

test("an API token expires after its lifetime", async (t) => {
  const { auth, caller } = await startAuth(t, await openAuthStore(t));
  const spec = {
    name: "ci",
    role: "viewer",
    services: [],
    createdBy: "user/admin",
    lifetimeMs: 3_600_000,
  } as const;
  const { token, record } = await auth.apiTokens.create(spec);
  const who = await caller(bearer(token));
  t.equal(who.expiresAtMs, record.expiresAtMs);
  t.intercept(Date, "now", { value: () => record.expiresAtMs });
  t.equal(await reasonOf(caller(bearer(token))), "TOKEN_EXPIRED");
  t.throws(() => who.current(), /expired/);
});

test("a certificate identifies the user with one of its names", async (t) => {
  const store = await openAuthStore(t);
  const id = await addUser(store, "probe", "viewer", "DNS:probe.example");
  const { auth, caller } = await startAuth(t, store);
  const certificate = { names: ["CN=nobody", "DNS:probe.example"], expiresAtMs: Date.now() + 60_000 };
  const who = await caller({}, { certificate });
  t.match(who, { actor: "user/probe", accountId: id, role: "viewer", credential: "certificate" });
  t.equal(
    await reasonOf(caller({}, { certificate: { ...certificate, names: ["CN=nobody"] } })),
    "CERTIFICATE_UNKNOWN",
  );
  t.equal(await reasonOf(caller({}, { certificate: { ...certificate, expiresAtMs: 1 } })), "TOKEN_EXPIRED");
  t.equal(
    await reasonOf(caller(bearer("x"), { certificate })),
    "TOKEN_INVALID",
    "the header takes precedence",
  );
  await auth.users.update("probe", { role: "operator", services: undefined, certificateNames: undefined });
  t.equal(who.current().role, "operator");
  await auth.users.remove("probe");
  t.throws(() => who.current(), /no user has a name/);
});

test("a request without credentials is anonymous", async (t) => {
  const { caller } = await startAuth(t, await openAuthStore(t));
  t.match(await caller({}), { actor: "anonymous", accountId: "", role: undefined, credential: "none" });
  t.match(await caller({ cookie: "other=1; hostplane_sessio=x" }), { actor: "anonymous" });
});

test("a listener without login gives everyone its role and ignores credentials", async (t) => {
  const { caller } = await startAuth(t, await openAuthStore(t));
  const listener = "unix:/run/lvmd.sock";
  const bad = { authorization: "Basic x", cookie: "hostplane_session=x" };
  t.match(await caller(bad, { access: "operator", listener }), {
    actor: "listener/unix:/run/lvmd.sock",
    accountId: "",
    role: "operator",
    credential: "listener",
  });
  const admin = await caller(bad, { access: "adminSocket" });
  t.match(admin, { actor: "admin-socket", role: "admin", credential: "adminSocket" });
  t.equal(admin.current(), admin);
});

test("changes to a user apply to its sessions from the next call on", async (t) => {
  const store = await openAuthStore(t);
  await addUser(store, "alice", "viewer");
  const { auth, caller, logIn } = await startAuth(t, store);
  const [one, two] = [await logIn("alice"), await logIn("alice")];
  const who = await caller(bearer(one.token));
  await auth.users.update("alice", {
    role: "operator",
    services: ["proto.VGService"],
    certificateNames: undefined,
  });
  t.match(who.current(), { role: "operator" });
  t.equal((await caller(bearer(one.token))).services?.size, 1);

  await auth.users.changePassword(who, { current: "correct horse", next: "another horse" }, "192.0.2.1");
  t.equal(who.current().role, "operator", "the session that changed the password remains");
  t.equal(await reasonOf(caller(bearer(two.token))), "TOKEN_REVOKED", "every other session ends");
  const three = await logIn("alice", "another horse");
  t.ok(await caller(bearer(three.token)), "a login right after the change is valid");

  await auth.users.remove("alice");
  t.equal(await reasonOf(caller(bearer(three.token))), "TOKEN_INVALID");
  t.throws(() => who.current(), /its user no longer exists/);
  await addUser(store, "alice", "admin");
  t.equal(
    await reasonOf(caller(bearer(three.token))),
    "TOKEN_INVALID",
    "another user of that name is a different account",
  );
});

test("users, tokens and keys that another gateway has just created are found", async (t) => {
  const store = await openAuthStore(t);
  const shared: Store = { ...store, isShared: true, subscribe: () => () => {} };
  const [here, there] = [await startAuth(t, shared), await startAuth(t, shared)];
  await addUser(store, "alice", "viewer", "CN=alice");
  const certificate = { names: ["CN=alice"], expiresAtMs: Date.now() + 60_000 };
  t.match(await here.caller({}, { certificate }), { actor: "user/alice" });
  const created = {
    name: "ci",
    role: "viewer",
    services: [],
    createdBy: "x",
    lifetimeMs: undefined,
  } as const;
  const { token } = await here.auth.apiTokens.create(created);
  t.match(await there.caller(bearer(token)), { actor: "token/ci" });
  await here.call(UserService.method.rotateSigningKey, {}, { peer: { access: "adminSocket" } });
  const session = await here.logIn("admin");
  t.match(await there.caller(bearer(session.token)), { actor: "user/admin" }, "signed by a new key");
  t.match(await here.caller(bearer((await there.logIn("admin")).token)), { actor: "user/admin" });
});

test("a cookie is accepted only from the gateway's own pages", async (t) => {
  const { caller, logIn } = await startAuth(t, await openAuthStore(t));
  const cookie = `theme=dark; hostplane_session=${(await logIn("admin")).token}`;
  const good: readonly Readonly<Record<string, string>>[] = [
    { ...json, ...ownOrigin },
    { ...json, ...ownOrigin, "sec-fetch-site": "same-origin" },
    { ...json, "sec-fetch-site": "same-origin" },
    { "content-type": "application/grpc-web+proto", "sec-fetch-site": "none" },
    // GET
    {},
    { ...ownOrigin },
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
  ];
  for (const headers of good) {
    const who = await caller({ ...headers, cookie });
    t.match(who, { actor: "user/admin", credential: "cookie", sessionId: String }, JSON.stringify(headers));
  }
  const bad: readonly Readonly<Record<string, string>>[] = [
    json,
    { ...json, origin: "https://evil.example" },
    { ...json, origin: "null" },
    { ...json, origin: "" },
    { ...json, origin: "http://127.0.0.1:1" },
    { ...json, origin: "http://127.0.0.1:0.evil.example" },
    { ...json, origin: "http://127.0.0.1:0, http://127.0.0.1:0" },
    { ...json, "sec-fetch-site": "cross-site" },
    { ...json, "sec-fetch-site": "same-site" },
    { ...json, "sec-fetch-site": "" },
    { ...ownOrigin, "content-type": "text/plain" },
    { ...ownOrigin, "content-type": "Text/Plain; charset=utf-8" },
    { ...ownOrigin, "content-type": "application/x-www-form-urlencoded" },
    { "sec-fetch-site": "same-origin", "content-type": "multipart/form-data; boundary=x" },
    { origin: "https://evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ];
  for (const headers of bad) {
    const error = await errorOf(caller({ ...headers, cookie }));
    t.match(error, { reason: "ORIGIN_NOT_ALLOWED", code: "PERMISSION_DENIED" }, JSON.stringify(headers));
  }
  t.match(
    await caller({
      ...json,
      origin: "https://evil.example",
      ...bearer((await logIn("admin")).token),
      cookie,
    }),
    {
      credential: "session",
    },
  );
});

test("over TLS, the cookie name is bound to the host, and pages must use https", async (t) => {
  const { caller, logIn } = await startAuth(t, await openAuthStore(t));
  const { token } = await logIn("admin");
  const peer = { isTls: true, authority: "gateway.example" };
  const host = { cookie: `__Host-hostplane_session=${token}`, ...json };
  t.match(await caller({ ...host, origin: "https://gateway.example" }, peer), { credential: "cookie" });
  t.equal(await reasonOf(caller({ ...host, origin: "http://gateway.example" }, peer)), "ORIGIN_NOT_ALLOWED");
  const plain = { cookie: `hostplane_session=${token}`, ...json, origin: "https://gateway.example" };
  t.match(await caller(plain, peer), { credential: "none" });
});

test("arbitrary bytes in the headers are refused with a reason, or anonymous", async (t) => {
  const { caller, logIn } = await startAuth(t, await openAuthStore(t));
  const { token } = await logIn("admin");
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString("latin1"));
  const text = fc.oneof(
    bytes,
    fc.string({ unit: codePoint }),
    fc.constantFrom("", " ", "Bearer", "Bearer ", "Bearer hpt_", "Basic YTpi", `Bearer ${token} ${token}`),
    bytes.map((any) => `Bearer ${any}`),
    bytes.map((any) => `bearer hpt_${any}`),
    fc.tuple(fc.nat(token.length), bytes).map(([at, any]) => `Bearer ${token.slice(0, at)}${any}`),
  );
  await fc.assert(
    fc.asyncProperty(text, async (authorization) => {
      const reason = await reasonOf(caller({ authorization }));
      return authorization.trim() === `Bearer ${token}` ? reason === undefined : reason === "TOKEN_INVALID";
    }),
    { numRuns: 2000 },
  );
  const cookies = fc.oneof(
    text,
    text.map((any) => `hostplane_session=${any}`),
    bytes.map((any) => `a=b;${any}`),
  );
  await fc.assert(
    fc.asyncProperty(cookies, text, async (cookie, origin) => {
      const reason = await reasonOf(caller({ ...ownOrigin, cookie }));
      const foreign = await reasonOf(caller({ origin, cookie }));
      return (
        (reason === undefined || reason === "TOKEN_INVALID") &&
        (foreign === undefined || foreign === "ORIGIN_NOT_ALLOWED")
      );
    }),
    { numRuns: 1000 },
  );
});

test("a session that was logged out ends for its caller at once", async (t) => {
  const { call, caller, logIn } = await startAuth(t, await openAuthStore(t));
  const { token } = await logIn("admin");
  const who = await caller(bearer(token));
  await call(AuthService.method.logout, {}, { headers: bearer(token) });
  t.throws(() => who.current(), /the session was ended/);
  t.equal(await reasonOf(caller(bearer(token))), "TOKEN_REVOKED");
});
