import { test } from "tap";
import { LoginService } from "../../../../../gen/hostplane/v1/login_pb.ts";
import { AuthService } from "../../../../../gen/services/auth/auth_pb.ts";
import { createFormBrowser, type FormBrowser } from "../../../harness/provider-under-test.ts";
import { until } from "../../../harness/until.ts";
import { type AuthUnderTest, reasonOf, startAuth } from "../auth-under-test.ts";
import {
  cookiesIn,
  finishLogin,
  fromPage,
  providerConfig,
  publicUrl,
  startLogins,
  withSession,
} from "./logins-under-test.ts";

type Auth = Pick<AuthUnderTest, "call">;

/** Logs in with a browser that may have a session at the provider. @returns the cookie of the session */
async function logInWith(auth: Auth, browser: FormBrowser, name: string): Promise<string> {
  const begun = await auth.call(LoginService.method.beginLogin, { provider: "corp" }, fromPage);
  const { search } = await browser.logIn(begun.message.authorizationUrl, name);
  return finishLogin(auth, { parameters: search.slice(1), cookie: cookiesIn(begun.headers)[0] ?? "" });
}

async function logOut(auth: Auth, cookie: string): Promise<string | null> {
  const [headers, peer] = withSession(cookie);
  const { headers: answered, message } = await auth.call(AuthService.method.logout, {}, { headers, peer });
  if (!message.success) {
    throw new Error("there was no session");
  }
  return answered.get("hostplane-end-session-url");
}

test("a logout in a browser leads to the page that ends the session at the provider, and back", async (t) => {
  const logins = await startLogins(t);
  const browser = createFormBrowser(logins.provider.issuer);
  const cookie = await logInWith(logins, browser, "alice");
  const kept = await logins.caller(...withSession(await logInWith(logins, browser, "bob")));
  t.equal(kept.actor, "user/alice@corp", "the provider's session answers for its user");

  const url = new URL((await logOut(logins, cookie)) ?? "");
  t.equal(url.origin, logins.provider.issuer);
  t.equal(url.searchParams.get("client_id"), "hostplane");
  t.match(url.searchParams.get("id_token_hint"), /^ey/);
  t.equal(await reasonOf(logins.caller(...withSession(cookie))), "TOKEN_REVOKED", "it is over here already");
  t.equal((await browser.logOut(url.href)).href, `${publicUrl}/`);
  const next = await logins.caller(...withSession(await logInWith(logins, browser, "bob")));
  t.equal(next.actor, "user/bob@corp", "the provider asks who it is");
});

test("a session keeps its ID token when its refresh token is rotated", async (t) => {
  const logins = await startLogins(t);
  const { provider } = logins;
  const cookie = await logins.logInByProvider("alice");
  const before = provider.requests.length;
  // The second check uses the refresh token that the first one has got.
  await until(async () => {
    await logins.caller(...withSession(cookie));
    return provider.requests.slice(before).filter((path) => path === "/token").length >= 2;
  });
  t.match(await logOut(logins, cookie), /id_token_hint=ey/);
});

test("there is no such page without a cookie, a provider that has one, or the configuration", async (t) => {
  const logins = await startLogins(t);
  const { provider, store } = logins;
  const { token } = await logins.logIn("admin");
  const local = await logins.call(
    AuthService.method.logout,
    {},
    { headers: { authorization: `Bearer ${token}` } },
  );
  t.equal(local.headers.get("hostplane-end-session-url"), null, "a local user");

  const config = await providerConfig(t, provider, { endSession: false });
  const without = await startAuth(t, store, { publicUrl, providers: [config] });
  const cookie = await logInWith(without, createFormBrowser(provider.issuer), "alice");
  t.equal(await logOut(without, cookie), null, "not wanted");

  const restarted = await startAuth(t, store, {
    publicUrl,
    providers: [await providerConfig(t, provider)],
  });
  const ofAway = await logInWith(logins, createFormBrowser(provider.issuer), "bob");
  await provider.stop();
  t.equal(await logOut(restarted, ofAway), null, "the provider is away");
});
