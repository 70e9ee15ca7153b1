import { generateKeyPair, SignJWT } from "jose";
import { test } from "tap";
import { LoginService } from "../../../../../gen/hostplane/v1/login_pb.ts";
import { clientId, type ProviderUnderTest } from "../../../harness/provider-under-test.ts";
import { until } from "../../../harness/until.ts";
import { errorOf, openAuthStore, reasonOf, startAuth } from "../auth-under-test.ts";
import {
  cookiesIn,
  finishLogin,
  fromPage,
  type LoginsUnderTest,
  providerConfig,
  publicUrl,
  type ReturnedLogin,
  startLogins,
  withSession,
} from "./logins-under-test.ts";

/** Begins a login, and returns what a lying provider needs to know of it. */
async function beginLogin({ call, provider }: LoginsUnderTest): Promise<ReturnedLogin & { nonce: string }> {
  const { message, headers } = await call(LoginService.method.beginLogin, { provider: "corp" }, fromPage);
  const { searchParams } = new URL(message.authorizationUrl);
  const parameters = new URLSearchParams({
    code: "a code",
    state: searchParams.get("state") ?? "",
    iss: provider.issuer,
  });
  return {
    parameters: parameters.toString(),
    cookie: cookiesIn(headers)[0] ?? "",
    nonce: searchParams.get("nonce") ?? "",
  };
}

/** Lets the provider answer requests for tokens with this ID token. */
function answerWith(provider: ProviderUnderTest, idToken: string | undefined): void {
  provider.takeover = ({ url }, response) => {
    if (url !== "/token") {
      return false;
    }
    response.setHeader("content-type", "application/json");
    const tokens = { access_token: "a", token_type: "Bearer", refresh_token: "r", id_token: idToken };
    response.end(JSON.stringify(tokens));
    return true;
  };
}

function claimsOf(provider: ProviderUnderTest, nonce: string) {
  const now = Math.floor(Date.now() / 1000);
  const user = { sub: "mallory", preferred_username: "mallory", groups: ["infra-admins"] };
  return { iss: provider.issuer, aud: clientId, iat: now, exp: now + 60, nonce, ...user };
}

test("an ID token that is not this login's, or not the provider's, is refused", async (t) => {
  const logins = await startLogins(t);
  const { provider } = logins;
  const { privateKey } = await generateKeyPair("ES256");
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const cases: Readonly<
    Record<string, (claims: ReturnType<typeof claimsOf>) => Promise<string> | string | undefined>
  > = {
    "no ID token": () => undefined,
    "another audience": (claims) => provider.sign({ ...claims, aud: "other" }),
    "further audiences without azp": (claims) => provider.sign({ ...claims, aud: [clientId, "other"] }),
    "another issuer": (claims) => provider.sign({ ...claims, iss: "https://evil.example" }),
    "another nonce": (claims) => provider.sign({ ...claims, nonce: "replayed" }),
    "no nonce": (claims) => provider.sign({ ...claims, nonce: undefined }),
    "an expired one": (claims) => provider.sign({ ...claims, iat: 1, exp: 2 }),
    "an unsigned one": (claims) => `${encoded({ alg: "none" })}.${encoded(claims)}.`,
    "one signed by the client's secret": (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode("x".repeat(32))),
    "another key under a published ID": async (claims) => {
      const [header = ""] = (await provider.sign({})).split(".");
      const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
      return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey);
    },
  };
  for (const [why, make] of Object.entries(cases)) {
    const login = await beginLogin(logins);
    answerWith(provider, await make(claimsOf(provider, login.nonce)));
    t.equal(await reasonOf(finishLogin(logins, login)), "LOGIN_REFUSED", why);
  }
  const login = await beginLogin(logins);
  answerWith(provider, await provider.sign(claimsOf(provider, login.nonce)));
  t.ok(await finishLogin(logins, login), "the same is accepted if all is right");
});

test("clocks may differ by half a minute", async (t) => {
  const logins = await startLogins(t);
  const { provider } = logins;
  const now = Math.floor(Date.now() / 1000);
  for (const skew of [-25, 25]) {
    const login = await beginLogin(logins);
    const claims = { ...claimsOf(provider, login.nonce), iat: now + skew, exp: now + skew + 5 };
    answerWith(provider, await provider.sign(claims));
    t.ok(await finishLogin(logins, login), `${skew} s`);
  }
});

test("answers that are too large, cut off, of another type or no JSON are refused without detail", async (t) => {
  const logins = await startLogins(t);
  const { provider } = logins;
  const secret = "something internal";
  const bodies: Readonly<Record<string, [type: string, body: () => string]>> = {
    "16 MiB": ["application/json", () => `{"access_token":"${"x".repeat(1 << 24)}"}`],
    "no JSON": ["application/json", () => secret],
    "a page": ["text/html", () => `<p>${secret}`],
    "an ID token that is none": [
      "application/json",
      () => JSON.stringify({ access_token: "a", token_type: "Bearer", id_token: `x.${secret}.z` }),
    ],
    "an array": ["application/json", () => "[]"],
  };
  for (const [why, [type, body]] of Object.entries(bodies)) {
    const login = await beginLogin(logins);
    provider.takeover = ({ url }, response) => {
      if (url === "/token") {
        response.writeHead(200, { "content-type": type }).end(body());
      }
      return url === "/token";
    };
    const error = await errorOf(finishLogin(logins, login));
    t.match(error?.reason, /^(PROVIDER_UNAVAILABLE|LOGIN_REFUSED)$/, why);
    t.notMatch(error?.message, secret);
  }
});

test("a redirect of the token endpoint is not followed", async (t) => {
  const logins = await startLogins(t);
  const login = await beginLogin(logins);
  logins.provider.takeover = ({ url }, response) => {
    if (url === "/token") {
      response.writeHead(307, { location: `${logins.provider.issuer}/elsewhere` }).end();
    }
    return url === "/token";
  };
  t.equal(await reasonOf(finishLogin(logins, login)), "PROVIDER_UNAVAILABLE");
  t.notOk(logins.provider.requests.includes("/elsewhere"));
});

test("an error of the provider becomes a refusal with its code, and a wrong secret of the gateway a fault", async (t) => {
  const logins = await startLogins(t);
  const login = await beginLogin(logins);
  const { state, iss } = Object.fromEntries(new URLSearchParams(login.parameters));
  const denied = new URLSearchParams({
    error: "access_denied",
    error_description: "<b>no</b>",
    state: state ?? "",
    iss: iss ?? "",
  });
  const error = await errorOf(finishLogin(logins, { ...login, parameters: denied.toString() }));
  t.match(error, { reason: "LOGIN_REFUSED", message: /access_denied/ });
  t.notMatch(error?.message, "<b>");
  const config = await providerConfig(t, logins.provider, {
    clientAuthentication: "post",
    clientId: "another",
  });
  const auth = await startAuth(t, await openAuthStore(t), { publicUrl, providers: [config] });
  const device = auth.call(LoginService.method.beginDeviceLogin, { provider: "corp" });
  t.match(await errorOf(device), { reason: "PROVIDER_UNAVAILABLE", message: /invalid_client/ });
});

test("a description of another issuer is refused", async (t) => {
  const logins = await startLogins(t);
  logins.provider.takeover = ({ url }, response) => {
    if (url?.startsWith("/.well-known/") !== true) {
      return false;
    }
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ issuer: "https://evil.example", authorization_endpoint: "https://evil.example" }),
    );
    return true;
  };
  const begun = logins.call(LoginService.method.beginLogin, { provider: "corp" }, fromPage);
  t.match((await errorOf(begun))?.reason, /^(PROVIDER_UNAVAILABLE|LOGIN_REFUSED)$/);
});

test("a check that is answered about another user ends the session", async (t) => {
  const logins = await startLogins(t);
  const stream = await logins.caller(...withSession(await logins.logInByProvider("bob")));
  answerWith(logins.provider, await logins.provider.sign({ ...claimsOf(logins.provider, ""), sub: "alice" }));
  let reason: string | undefined;
  await until(() => {
    try {
      stream.current();
      return false;
    } catch (error) {
      reason = (error as { reason?: string }).reason;
      return true;
    }
  });
  t.equal(reason, "TOKEN_REVOKED");
});
