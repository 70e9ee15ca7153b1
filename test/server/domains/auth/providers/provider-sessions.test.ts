import { test } from "tap";
import type { Caller } from "../../../../../server/rpc/call/caller.ts";
import { logoutClaims } from "../../../harness/provider-under-test.ts";
import { until } from "../../../harness/until.ts";
import { addUser, errorOf, reasonOf, startAuth } from "../auth-under-test.ts";
import {
  beginAtProvider,
  finishLogin,
  type LoginsUnderTest,
  logInByProvider,
  providerConfig,
  publicUrl,
  startLogins,
  withSession,
} from "./logins-under-test.ts";

/** Returns the reason for which the session of an open stream is over; undefined while it is not. */
function endOf(caller: Caller): string | undefined {
  try {
    caller.current();
    return undefined;
  } catch (error) {
    return (error as { reason?: string }).reason;
  }
}

/** Returns how often the provider was asked for tokens. */
const refreshes = ({ provider }: LoginsUnderTest) =>
  provider.requests.filter((path) => path === "/token").length;

test("a user removed at the provider is out, and so are its open streams", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  const stream = await logins.caller(...withSession(cookie));
  logins.provider.users.delete("alice");
  await until(() => endOf(stream) !== undefined);
  t.equal(endOf(stream), "TOKEN_REVOKED");
  t.equal(await reasonOf(logins.caller(...withSession(cookie))), "TOKEN_REVOKED");
});

test("a session that was not used for a while is checked before its next call", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  logins.provider.users.delete("alice");
  const restarted = await startAuth(t, logins.store, {
    publicUrl,
    checkSeconds: 1,
    providers: [await providerConfig(t, logins.provider)],
  });
  let reason: string | undefined;
  await until(async () => {
    // The check of the login itself counts for almost a second.
    reason = await reasonOf(restarted.caller(...withSession(cookie)));
    return reason !== undefined;
  });
  t.equal(reason, "TOKEN_REVOKED");
});

test("a user who changes groups has its new role at the next check, and none without a group", async (t) => {
  const logins = await startLogins(t);
  const stream = await logins.caller(...withSession(await logins.logInByProvider("alice")));
  logins.provider.users.set("alice", ["infra-watchers"]);
  await until(() => stream.current().role === "viewer");
  logins.provider.users.set("alice", ["others"]);
  await until(() => endOf(stream) !== undefined);
  t.equal(endOf(stream), "TOKEN_REVOKED");
});

test("a user has the grants of its groups, and those of its new groups at the next check", async (t) => {
  const { provider, store } = await startLogins(t);
  const db = { role: "operator", resources: ["volumeGroups/vg0/volumes/db-*"] } as const;
  const many = Array.from(
    { length: 20 },
    (_, at) => ({ role: "viewer", resources: [`pods/${at}`] }) as const,
  );
  const roles = [
    { group: "team-db", grants: [db] },
    { group: "team-web", grants: [{ role: "viewer", services: ["proto.VGService"] }] },
    { group: "many", grants: many },
    { group: "more", grants: many.map((grant) => ({ ...grant, hosts: ["web-*"] })) },
  ] as const;
  provider.users.set("alice", ["team-db"]);
  const auth = await startAuth(t, store, {
    publicUrl,
    checkSeconds: 1,
    providers: [await providerConfig(t, provider, { roles })],
  });
  const stream = await auth.caller(...withSession(await logInByProvider(auth, provider.issuer, "alice")));
  t.match(stream, { role: "operator", grants: { list: [db] } });
  t.match(await auth.auth.users.list(), [{ name: "admin" }, { name: "alice@corp", grants: [db] }]);
  provider.users.set("alice", ["team-db", "team-web"]);
  await until(() => stream.current().grants?.list.length === 2);
  provider.users.set("alice", ["team-web"]);
  await until(() => stream.current().grants === undefined);
  t.match(
    stream.current(),
    { role: "viewer", services: new Set(["proto.VGService"]) },
    "as a role of services",
  );
  provider.users.set("alice", ["many", "more"]);
  await until(() => endOf(stream) !== undefined);
  t.match(await errorOf(logInByProvider(auth, provider.issuer, "alice")), {
    reason: "LOGIN_WITHOUT_ROLE",
    message: /expected at most 32 grants, has 40/,
  });
});

test("a session in use is checked again and again with the newest refresh token, and an unused one is not", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  const unused = await logins.logInByProvider("bob");
  const before = refreshes(logins);
  await until(async () => {
    await logins.caller(...withSession(cookie));
    return refreshes(logins) >= before + 3;
  });
  t.match(await logins.caller(...withSession(cookie)), { actor: "user/alice@corp" });
  t.match(await logins.caller(...withSession(unused)), { actor: "user/bob@corp" });
});

test("sessions outlast a provider that is away, and there are no new ones", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  const stream = await logins.caller(...withSession(cookie));
  const returned = await beginAtProvider(logins, logins.provider.issuer, "bob");
  let refused = 0;
  logins.provider.takeover = ({ socket }) => {
    refused += 1;
    socket.destroy();
    return true;
  };
  t.equal(await reasonOf(finishLogin(logins, returned)), "PROVIDER_UNAVAILABLE");
  const before = refused;
  await until(async () => {
    await logins.caller(...withSession(cookie));
    return refused >= before + 2;
  });
  t.equal(endOf(stream), undefined, "its streams stay open");
  logins.provider.users.delete("alice");
  logins.provider.takeover = undefined;
  await until(() => endOf(stream) !== undefined);
  t.equal(endOf(stream), "TOKEN_REVOKED", "the check is made up for");
});

test("a gateway starts while its provider is away, and accepts earlier sessions", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  await logins.provider.stop();
  const restarted = await startAuth(t, logins.store, {
    publicUrl,
    checkSeconds: 1,
    providers: [await providerConfig(t, logins.provider)],
  });
  t.match(await restarted.caller(...withSession(cookie)), { actor: "user/alice@corp" });
});

test("a provider that is no longer configured confirms no sessions", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  const without = await startAuth(t, logins.store, { publicUrl, providers: [] });
  t.equal(await reasonOf(without.caller(...withSession(cookie))), "TOKEN_REVOKED");
});

test("a provider that never answers ends no session, and does not block calls for good", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  let unanswered = 0;
  logins.provider.takeover = () => {
    unanswered += 1;
    return true;
  };
  await until(async () => {
    await logins.caller(...withSession(cookie));
    return unanswered >= 2;
  });
  logins.provider.takeover = undefined;
  t.match(await logins.caller(...withSession(cookie)), { actor: "user/alice@corp" });
});

test("new signing keys of the provider are accepted within seconds", async (t) => {
  const logins = await startLogins(t);
  const stream = await logins.caller(...withSession(await logins.logInByProvider("alice")));
  await logins.provider.rotateKeys();
  // Keys are requested again after two seconds at the earliest.
  await until(async () => (await reasonOf(logins.logInByProvider("bob"))) === undefined);
  t.equal(endOf(stream), undefined, "sessions are not ended");
});

test("two gateways share the checks of a session: a rotated refresh token is used once", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  const second = await startAuth(t, logins.store, {
    publicUrl,
    checkSeconds: 1,
    providers: [await providerConfig(t, logins.provider)],
  });
  const before = refreshes(logins);
  await until(async () => {
    await Promise.all([logins.caller(...withSession(cookie)), second.caller(...withSession(cookie))]);
    return refreshes(logins) >= before + 4;
  });
  t.match(await second.caller(...withSession(cookie)), { actor: "user/alice@corp" });
});

test("a logout at the provider ends its sessions at once", async (t) => {
  const logins = await startLogins(t);
  const { provider, auth } = logins;
  const ofAlice = withSession(await logins.logInByProvider("alice"));
  const ofBob = withSession(await logins.logInByProvider("bob"));
  const logOut = async (claims: Record<string, unknown>, header?: Record<string, string>) => {
    const token = await provider.sign({ ...logoutClaims(provider), ...claims }, header);
    return auth.logOutByProvider("corp", token, "10.0.0.1", AbortSignal.timeout(10_000));
  };
  const now = Math.floor(Date.now() / 1000);
  for (const [why, claims] of Object.entries({
    "another audience": { sub: "alice", aud: "other" },
    "another issuer": { sub: "alice", iss: "https://evil.example" },
    "an ID token": { sub: "alice", events: undefined },
    "a nonce": { sub: "alice", nonce: "x" },
    "neither user nor session": {},
    "an old token": { sub: "alice", iat: now - 3600 },
    "no jti": { sub: "alice", jti: undefined },
  })) {
    t.equal(await logOut(claims), "refused", why);
  }
  t.equal(await logOut({ sub: "alice" }, { kid: "unknown" }), "refused", "an unknown key");
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(
    JSON.stringify({ ...logoutClaims(provider), sub: "alice" }),
  ).toString("base64url")}.`;
  const refused = await auth.logOutByProvider("corp", unsigned, "10.0.0.1", AbortSignal.timeout(10_000));
  t.equal(refused, "refused", "an unsigned token");
  t.ok(await logins.caller(...ofAlice), "nothing has ended");

  t.equal(await logOut({ sub: "alice" }), "ended");
  t.match(await errorOf(logins.caller(...ofAlice)), { reason: "TOKEN_REVOKED" });
  t.ok(await logins.caller(...ofBob), "other users stay logged in");
  t.ok(await logins.caller(...withSession(await logins.logInByProvider("alice"))), "a new login is good");
  await addUser(logins.store, "alice", "viewer");
  t.equal(await logOut({ sub: "admin" }), "ended", "of no session");
  t.ok((await logins.logIn("alice")).token, "a local user of the same name is another one");
});
