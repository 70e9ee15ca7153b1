import { timestampMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import { storeReasons } from "../../../../server/store/reasons.ts";
import type { Store } from "../../../../server/store/store.ts";
import { codePoint } from "../../../code-point.ts";
import {
  addUser,
  bearer,
  errorOf,
  freshAddress,
  openAuthStore,
  password,
  reasonOf,
  startAuth,
} from "./auth-under-test.ts";

const { login, logout, checkToken } = AuthService.method;
const admin = { username: "admin", password };

test("Login returns a token, its expiry and the account", async (t) => {
  const { call, caller } = await startAuth(t, await openAuthStore(t), { tokenHours: 2 });
  const beganAtMs = Date.now();
  const { message, headers } = await call(login, admin);
  const expiresAtMs = timestampMs(
    message.expires?.timestamp ?? { seconds: 0n, nanos: 0, $typeName: "google.protobuf.Timestamp" },
  );
  t.ok(Math.abs(expiresAtMs - beganAtMs - 2 * 3_600_000) < 60_000);
  t.equal((await caller(bearer(message.token))).expiresAtMs, expiresAtMs);
  t.equal(message.accountId, (await call(login, admin)).message.accountId, "stable");
  t.equal(headers.get("set-cookie"), null);
});

test("a wrong user, a wrong password and a user without one get the same answer", async (t) => {
  const store = await openAuthStore(t);
  await addUser(store, "probe", "viewer", "CN=probe");
  const { call } = await startAuth(t, store);
  const attempts = [
    { username: "admin", password: "wrong horse" },
    { username: "admin", password: "" },
    { username: "admin", password: `${password} ` },
    { username: "Admin", password },
    { username: "nobody", password },
    { username: "probe", password: "" },
    { username: "probe", password },
    { username: "", password: "" },
    { username: "x".repeat(100_000), password: "y".repeat(100_000) },
  ];
  for (const attempt of attempts) {
    const error = await errorOf(call(login, attempt, { peer: { address: freshAddress() } }));
    t.match(error, {
      reason: "INVALID_CREDENTIALS",
      message: "wrong user name or password",
      retryAfterMs: undefined,
    });
  }
});

test("logins over the network are throttled, those over the admin socket never", async (t) => {
  const { call } = await startAuth(t, await openAuthStore(t));
  const wrong = { username: "admin", password: "wrong horse" };
  for (let time = 0; time < 5; time++) {
    t.equal(await reasonOf(call(login, wrong)), "INVALID_CREDENTIALS");
  }
  const refused = await errorOf(call(login, admin));
  t.match(refused, { reason: "TOO_MANY_LOGINS", retryAfterMs: Number });
  t.same(await errorOf(call(login, wrong)).then((error) => error?.reason), "TOO_MANY_LOGINS");
  t.ok(await call(login, admin, { peer: { address: "192.0.2.77" } }), "the same user elsewhere");
  const adminSocket = { peer: { access: "adminSocket", address: "unix" } } as const;
  for (let time = 0; time < 25; time++) {
    t.equal(await reasonOf(call(login, wrong, adminSocket)), "INVALID_CREDENTIALS");
  }
  t.ok(await call(login, admin, adminSocket));
});

test("an attempt of a caller who has left is neither counted nor checked", async (t) => {
  const { call, logIn } = await startAuth(t, await openAuthStore(t));
  const left = AbortSignal.abort(new InfraError(hostReasons.CALLER_LEFT, "gone"));
  for (let time = 0; time < 6; time++) {
    const leaving = new AbortController();
    const attempt = call(login, { username: "admin", password: "wrong horse" }, { signal: leaving.signal });
    leaving.abort(left.reason);
    t.equal(await reasonOf(attempt), "CALLER_LEFT");
  }
  t.ok(await call(login, admin));
  t.ok(await logIn("admin"));
});

test("Logout ends the session on every replica, permanently", async (t) => {
  const store = await openAuthStore(t);
  const shared: Store = { ...store, isShared: true, subscribe: () => () => {} };
  const [here, there] = [await startAuth(t, shared), await startAuth(t, shared)];
  const { token } = await here.logIn("admin");
  const other = await here.logIn("admin");
  t.same((await there.call(checkToken, { token })).message.success, true);
  t.same((await here.call(logout, {}, { headers: bearer(token) })).message.success, true);
  t.equal(await reasonOf(here.caller(bearer(token))), "TOKEN_REVOKED");
  t.same((await there.call(checkToken, { token })).message.success, false, "immediately");
  t.equal(await reasonOf(there.caller(bearer(token))), "TOKEN_REVOKED");
  t.equal(await reasonOf(here.call(logout, {}, { headers: bearer(token) })), "TOKEN_REVOKED");
  t.same((await there.call(checkToken, { token: other.token })).message.success, true);
  const restarted = await startAuth(t, store);
  t.equal(await reasonOf(restarted.caller(bearer(token))), "TOKEN_REVOKED");
});

test("Logout without a session ends nothing, and reports that", async (t) => {
  const { auth, call, caller } = await startAuth(t, await openAuthStore(t));
  const spec = {
    name: "ci",
    role: "viewer",
    services: [],
    createdBy: "user/admin",
    lifetimeMs: undefined,
  } as const;
  const { token } = await auth.apiTokens.create(spec);
  t.same((await call(logout, {}, { headers: bearer(token) })).message.success, false);
  t.ok(await caller(bearer(token)));
  for (const access of ["adminSocket", "viewer"] as const) {
    t.same((await call(logout, {}, { peer: { access } })).message.success, false);
  }
});

test("CheckToken is true for tokens that would be accepted, and false for all others", async (t) => {
  const store = await openAuthStore(t);
  await addUser(store, "alice", "viewer");
  const { auth, call, logIn } = await startAuth(t, store);
  const isAccepted = async (token: string) => (await call(checkToken, { token })).message.success;
  const { token } = await logIn("alice");
  t.ok(await isAccepted(token));
  const foreign = await startAuth(t, store, { audience: "another" });
  t.notOk(await isAccepted((await foreign.logIn("alice")).token), "for another audience");
  const spec = {
    name: "ci",
    role: "viewer",
    services: [],
    createdBy: "user/admin",
    lifetimeMs: undefined,
  } as const;
  const machine = await auth.apiTokens.create(spec);
  t.ok(await isAccepted(machine.token), "an API token");
  await auth.apiTokens.revoke("ci");
  t.notOk(await isAccepted(machine.token), "a revoked one");
  await auth.users.setPassword("alice", "another horse");
  t.notOk(await isAccepted(token), "after a password change");
  t.notOk(await isAccepted(`Bearer ${token}`));
  t.notOk(await isAccepted(""));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: codePoint }),
        fc.string().map((any) => `hpt_${any}`),
      ),
      async (any) => !(await isAccepted(any)),
    ),
    { numRuns: 300 },
  );
});

test("CheckToken fails when it cannot check", async (t) => {
  const store = await openAuthStore(t);
  let isGone = false;
  const gone = new InfraError(storeReasons.STORE_UNAVAILABLE, "gone");
  const run: Store["run"] = (name, args) => (isGone ? Promise.reject(gone) : store.run(name, args));
  const { call, logIn } = await startAuth(t, { ...store, run });
  const { token } = await logIn("admin");
  isGone = true;
  t.equal(await reasonOf(call(checkToken, { token })), "STORE_UNAVAILABLE");
});

test("with a cookie session, scripts cannot see the token, and Logout clears the cookie", async (t) => {
  const { call, caller } = await startAuth(t, await openAuthStore(t));
  const wish = { "hostplane-session": "cookie" };
  const { message, headers } = await call(login, admin, { headers: wish });
  t.equal(message.token, "");
  t.ok(message.expires?.timestamp && message.accountId);
  const setCookie = headers.get("set-cookie") ?? "";
  t.match(setCookie, /^hostplane_session=[\w.-]+; Path=\/; Max-Age=43(19\d|200); HttpOnly; SameSite=Strict$/);
  const own = { cookie: setCookie.split(";")[0] ?? "", origin: "http://127.0.0.1:0" };
  t.match(await caller(own), { actor: "user/admin", credential: "cookie" });
  const out = await call(logout, {}, { headers: own });
  t.equal(out.message.success, true);
  t.equal(out.headers.get("set-cookie"), "hostplane_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
  t.equal(await reasonOf(caller(own)), "TOKEN_REVOKED");

  const overTls = await call(login, admin, { headers: wish, peer: { isTls: true } });
  t.match(overTls.headers.get("set-cookie"), /^__Host-hostplane_session=[^;]+; Path=\/; .*; Secure$/);
});

test("a page that a proxy serves over TLS gets a cookie that is sent only over TLS", async (t) => {
  const { call, caller } = await startAuth(t, await openAuthStore(t));
  const peer = { isTls: false, authority: "gateway.example" };
  const secure = { origin: "https://gateway.example" };
  const plain = { origin: "http://gateway.example" };
  const cookieOf = async (headers: Readonly<Record<string, string>>) => {
    const { headers: answered } = await call(login, admin, {
      headers: { "hostplane-session": "cookie", ...headers },
      peer,
    });
    return answered.get("set-cookie") ?? "";
  };
  const setByTls = await cookieOf(secure);
  t.match(
    setByTls,
    /^__Host-hostplane_session=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
  );
  const setPlainly = await cookieOf(plain);
  t.match(setPlainly, /^hostplane_session=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);

  const [ofTls = "", planted = ""] = [setByTls, setPlainly].map((set) => set.split(";")[0]);
  const credentialOf = async (cookie: string, page: Readonly<Record<string, string>> = {}) =>
    (await caller({ cookie, ...page }, peer)).credential;
  t.equal(await credentialOf(ofTls, secure), "cookie");
  t.equal(
    await credentialOf(planted, secure),
    "none",
    "a page over TLS accepts no cookie that was set without TLS",
  );
  t.equal(await credentialOf(planted, plain), "cookie");
  t.equal(await credentialOf(ofTls), "cookie", "GET does not show its origin");
  t.equal(await credentialOf(planted), "cookie");

  const both = `${planted}; ${ofTls}`;
  const out = await call(logout, {}, { headers: { cookie: both, ...secure }, peer });
  t.same(out.headers.getSetCookie(), [
    "hostplane_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
    "__Host-hostplane_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure",
  ]);
  t.equal(await reasonOf(caller({ cookie: both, ...secure }, peer)), "TOKEN_REVOKED");
});

test("a foreign page cannot log in by cookie, and the header has one valid value", async (t) => {
  const { call } = await startAuth(t, await openAuthStore(t));
  const wish = { "hostplane-session": "cookie" };
  const foreign = { headers: { ...wish, origin: "https://evil.example" } };
  t.equal(await reasonOf(call(login, admin, foreign)), "ORIGIN_NOT_ALLOWED");
  t.equal(
    await reasonOf(call(login, admin, { headers: { "hostplane-session": "Cookie" } })),
    "MALFORMED_REQUEST",
  );
});

test("the sandbox's banner gets a session without a password", async (t) => {
  const { auth, caller } = await startAuth(t, await openAuthStore(t));
  const { token } = await auth.beginSession("admin");
  t.match(await caller(bearer(token)), { actor: "user/admin", role: "admin" });
  t.equal(await reasonOf(auth.beginSession("nobody")), "USER_NOT_FOUND");
});

test("any name and password gets an answer", async (t) => {
  const { call } = await startAuth(t, await openAuthStore(t));
  const text = fc.oneof(
    fc.string({ unit: codePoint, maxLength: 100 }),
    fc.constantFrom("admin", "__proto__", "\0", "\ud800"),
  );
  await fc.assert(
    fc.asyncProperty(text, text, async (username, secret) => {
      const from = { peer: { address: freshAddress() } };
      return (await reasonOf(call(login, { username, password: secret }, from))) === "INVALID_CREDENTIALS";
    }),
    { numRuns: 60 },
  );
});
