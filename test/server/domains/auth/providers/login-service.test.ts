import { test } from "tap";
import { LoginService } from "../../../../../gen/hostplane/v1/login_pb.ts";
import { UserService } from "../../../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../../../gen/services/auth/auth_pb.ts";
import { createFormBrowser } from "../../../harness/provider-under-test.ts";
import { bearer, errorOf, openAuthStore, reasonOf, startAuth } from "../auth-under-test.ts";
import {
  beginAtProvider,
  cookiesIn,
  finishLogin,
  fromPage,
  logInByProvider,
  providerConfig,
  publicUrl,
  startLogins,
  withSession,
} from "./logins-under-test.ts";

test("a user of a provider logs in with the role of its group, and appears under the provider's name", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  const caller = await logins.caller(...withSession(cookie));
  t.match(caller, { actor: "user/alice@corp", role: "admin", credential: "cookie" });
  const bob = await logins.caller(...withSession(await logins.logInByProvider("bob")));
  t.match(bob, { actor: "user/bob@corp", role: "viewer" });
  const again = await logins.caller(...withSession(await logins.logInByProvider("alice")));
  t.equal(again.accountId, caller.accountId, "the same account at every login");
  const listed = await logins.auth.users.list();
  t.same(
    listed.map(({ name, provider, hasPassword }) => [name, provider, hasPassword]),
    [
      ["admin", null, true],
      ["alice@corp", "corp", false],
      ["bob@corp", "corp", false],
    ],
  );
});

test("the providers are listed with the URL at which logins begin", async (t) => {
  const { call } = await startLogins(t);
  const { message } = await call(LoginService.method.listProviders, {});
  t.match(message, { providers: [{ name: "corp", title: "Example Corp" }], publicUrl });
  const without = await startAuth(t, await openAuthStore(t));
  const none = await without.call(LoginService.method.listProviders, {});
  t.same([none.message.providers, none.message.publicUrl], [[], ""]);
});

test("the login page gets PKCE, a state and a nonce, and the configured parameters", async (t) => {
  const { provider, store } = await startLogins(t);
  const config = await providerConfig(t, provider, { parameters: ["prompt=consent", "hd=a=b"] });
  const { call } = await startAuth(t, store, { publicUrl, providers: [config] });
  const begin = async () =>
    (await call(LoginService.method.beginLogin, { provider: "corp" }, fromPage)).message;
  const [first, second] = [
    new URL((await begin()).authorizationUrl),
    new URL((await begin()).authorizationUrl),
  ];
  const parameters = Object.fromEntries(first.searchParams);
  t.match(parameters, {
    response_type: "code",
    code_challenge_method: "S256",
    code_challenge: /^[\w-]{43}$/,
    redirect_uri: `${publicUrl}/oidc/corp/callback`,
    scope: "openid profile offline_access",
    prompt: "consent",
    hd: "a=b",
  });
  for (const name of ["state", "nonce", "code_challenge"]) {
    t.match(first.searchParams.get(name), /^[\w-]{43}$/);
    t.not(first.searchParams.get(name), second.searchParams.get(name), `${name} is used once`);
  }
});

test("a user in no group with a role cannot log in, and is not created", async (t) => {
  const logins = await startLogins(t);
  t.equal(await reasonOf(logins.logInByProvider("carol")), "LOGIN_WITHOUT_ROLE");
  t.same(
    (await logins.auth.users.list()).map(({ name }) => name),
    ["admin"],
  );
});

test("a provider without refresh tokens cannot be checked, so that the login is refused", async (t) => {
  const logins = await startLogins(t, { issuesRefreshTokens: false });
  const error = await errorOf(logins.logInByProvider("alice"));
  t.match(error, { reason: "LOGIN_NOT_CHECKABLE", message: /offline_access/ });
});

test("a login that another browser began is refused (login CSRF)", async (t) => {
  const logins = await startLogins(t);
  const ofAttacker = await beginAtProvider(logins, logins.provider.issuer, "bob");
  t.equal(await reasonOf(finishLogin(logins, { ...ofAttacker, cookie: "" })), "LOGIN_NOT_BEGUN", "no cookie");
  const ofVictim = await beginAtProvider(logins, logins.provider.issuer, "alice");
  const mixed = { ...ofAttacker, cookie: ofVictim.cookie };
  t.equal(await reasonOf(finishLogin(logins, mixed)), "LOGIN_NOT_BEGUN", "the cookie of another login");
  const from = { ...fromPage, headers: { origin: "https://evil.example", cookie: ofVictim.cookie } };
  const foreign = logins.call(LoginService.method.finishLogin, { provider: "corp", ...ofVictim }, from);
  t.equal(await reasonOf(foreign), "ORIGIN_NOT_ALLOWED", "a foreign page");
  const unnamed = { ...from, headers: { cookie: ofVictim.cookie } };
  const hidden = logins.call(LoginService.method.finishLogin, { provider: "corp", ...ofVictim }, unnamed);
  t.equal(await reasonOf(hidden), "ORIGIN_NOT_ALLOWED", "a page that hides its origin");
  t.ok(await finishLogin(logins, ofVictim), "the login itself is still good");
});

test("a code, a state and a cookie are good for one login", async (t) => {
  const logins = await startLogins(t);
  const returned = await beginAtProvider(logins, logins.provider.issuer, "alice");
  const changed = new URLSearchParams(returned.parameters);
  changed.set("state", "x".repeat(43));
  const guessed = { ...returned, parameters: changed.toString() };
  t.equal(await reasonOf(finishLogin(logins, guessed)), "LOGIN_NOT_BEGUN", "another state");
  t.ok(await finishLogin(logins, returned));
  t.equal(await reasonOf(finishLogin(logins, returned)), "LOGIN_REFUSED", "everything once more");
  t.equal(
    await reasonOf(finishLogin(logins, { ...returned, cookie: `${returned.cookie.slice(0, -6)}AAAAAA` })),
    "LOGIN_NOT_BEGUN",
    "a forged cookie",
  );
});

test("the cookie of a finished login is removed", async (t) => {
  const logins = await startLogins(t);
  const { parameters, cookie } = await beginAtProvider(logins, logins.provider.issuer, "alice");
  t.match(cookie, /^__Host-hostplane_login=/);
  const from = { ...fromPage, headers: { ...fromPage.headers, cookie } };
  const { headers, message } = await logins.call(
    LoginService.method.finishLogin,
    { provider: "corp", parameters },
    from,
  );
  t.same(
    headers.getSetCookie().map((line) => line.replace(/=ey[^;]+/, "=...").replace(/Age=4\d{4}/, "Age=...")),
    [
      "__Host-hostplane_login=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure",
      "__Host-hostplane_session=...; Path=/; Max-Age=...; HttpOnly; SameSite=Strict; Secure",
    ],
  );
  t.equal(cookiesIn(headers).length, 2);
  t.ok(message.expiresAt);
});

test("an answer of one provider is not accepted as another's (mix-up)", async (t) => {
  const { provider, store } = await startLogins(t);
  const other = await startLogins(t, { redirectUrls: [`${publicUrl}/oidc/other/callback`] });
  const auth = await startAuth(t, store, {
    publicUrl,
    providers: [
      await providerConfig(t, provider),
      await providerConfig(t, other.provider, { name: "other", title: "Other" }),
    ],
  });
  const returned = await beginAtProvider(auth, provider.issuer, "alice");
  t.equal(
    await reasonOf(finishLogin(auth, returned, "other")),
    "LOGIN_NOT_BEGUN",
    "the path of another provider",
  );
  const parameters = new URLSearchParams(returned.parameters);
  parameters.set("iss", other.provider.issuer);
  const ofOther = { ...returned, parameters: parameters.toString() };
  t.equal(await reasonOf(finishLogin(auth, ofOther)), "LOGIN_REFUSED", "the issuer of another provider");
  parameters.delete("iss");
  const unnamed = { ...returned, parameters: parameters.toString() };
  t.equal(
    await reasonOf(finishLogin(auth, unnamed)),
    "LOGIN_REFUSED",
    "no issuer although it always sends one",
  );
});

test("a user of a provider cannot be given a password, a role or a certificate, but can be removed", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  const name = "alice@corp";
  const { token } = await logins.logIn("admin");
  const from = { headers: bearer(token) };
  const { users } = logins.auth;
  const kept = { role: undefined, services: undefined, certificateNames: undefined };
  for (const change of [
    () => users.setPassword(name, "another password"),
    () => users.update(name, { ...kept, role: "viewer" }),
    () => users.update(name, { ...kept, certificateNames: ["CN=alice"] }),
  ]) {
    t.equal(await reasonOf(change()), "USER_OF_PROVIDER");
  }
  const wrong = { username: name, password: "" };
  t.equal(await reasonOf(logins.call(AuthService.method.login, wrong)), "INVALID_CREDENTIALS");
  const local = {
    name,
    role: "viewer",
    password: "long enough",
    services: [],
    certificateNames: [],
  } as const;
  t.equal(await reasonOf(users.create(local)), "INVALID_FIELD", "no local user can have such a name");
  await users.remove(name);
  t.equal(await reasonOf(logins.caller(...withSession(cookie))), "TOKEN_INVALID", "its sessions are over");
  t.ok(
    await logins.caller(...withSession(await logins.logInByProvider("alice"))),
    "only the provider can lock it out",
  );
  t.ok(
    (await logins.call(UserService.method.listUsers, {}, from)).message.users.some(
      (user) => user.provider === "corp",
    ),
  );
});

test("two users of a provider with the same name get different names", async (t) => {
  const logins = await startLogins(t);
  logins.provider.users.set("alice@elsewhere", ["infra-watchers"]);
  const first = await logins.caller(...withSession(await logins.logInByProvider("alice")));
  const second = await logins.caller(...withSession(await logins.logInByProvider("alice@elsewhere")));
  t.equal(first.actor, "user/alice@corp");
  t.match(second.actor, /^user\/alice-[0-9a-f]{16}@corp$/);
  t.equal(second.role, "viewer");
});

test("a program logs in by a device login, once", async (t) => {
  const logins = await startLogins(t);
  const { message: begun } = await logins.call(LoginService.method.beginDeviceLogin, { provider: "corp" });
  t.match(begun.userCode, /^[A-Z]{4}-[A-Z]{4}$/);
  const { loginHandle } = begun;
  const finish = async (handle: string) =>
    (await logins.call(LoginService.method.finishDeviceLogin, { loginHandle: handle })).message;
  const pending = await errorOf(finish(loginHandle));
  t.match(pending, { reason: "LOGIN_PENDING", retryAfterMs: 5000 });
  await createFormBrowser(logins.provider.issuer).confirmDevice(begun.verificationUriComplete, "bob");
  const { token, accountId } = await finish(loginHandle);
  const caller = await logins.caller(bearer(token));
  t.match(caller, { actor: "user/bob@corp", role: "viewer", accountId });
  t.equal(await reasonOf(finish(loginHandle)), "LOGIN_REFUSED", "the code is used up");
  t.equal(await reasonOf(finish("guessed")), "LOGIN_NOT_BEGUN");
});

test("unknown providers and texts that are too long are refused without asking a provider", async (t) => {
  const logins = await startLogins(t);
  const asked = logins.provider.requests.length;
  const begin = logins.call(LoginService.method.beginLogin, { provider: "nope" }, fromPage);
  t.match(await errorOf(begin), { reason: "PROVIDER_NOT_FOUND", message: /known: corp/ });
  const parameters = `state=${"x".repeat(9000)}`;
  const finish = logins.call(LoginService.method.finishLogin, { provider: "corp", parameters }, fromPage);
  t.equal(await reasonOf(finish), "INVALID_FIELD");
  t.equal(logins.provider.requests.length, asked);
});

test("a login begun at one gateway is finished at another that shares the store's key", async (t) => {
  const logins = await startLogins(t);
  const config = await providerConfig(t, logins.provider);
  const second = await startAuth(t, logins.store, { publicUrl, providers: [config] });
  const cookie = await finishLogin(second, await beginAtProvider(logins, logins.provider.issuer, "alice"));
  t.match(await logins.caller(...withSession(cookie)), { actor: "user/alice@corp" });
  t.ok(await logInByProvider(second, logins.provider.issuer, "bob"));
});
