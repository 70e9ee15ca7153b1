import { test } from "tap";
import { AuthService } from "../../../../../gen/services/auth/auth_pb.ts";
import { logoutClaims } from "../../../harness/provider-under-test.ts";
import { until } from "../../../harness/until.ts";
import { reasonOf, startAuth } from "../auth-under-test.ts";
import {
  type LoginsUnderTest,
  logInByProvider,
  providerConfig,
  publicUrl,
  startLogins,
  withSession,
} from "./logins-under-test.ts";

const revocation = "/token/revocation";

async function logOut({ call }: Pick<LoginsUnderTest, "call">, cookie: string): Promise<boolean> {
  const [headers, peer] = withSession(cookie);
  return (await call(AuthService.method.logout, {}, { headers, peer })).message.success;
}

test("a logout revokes the refresh token at the provider", async (t) => {
  const logins = await startLogins(t);
  const { provider } = logins;
  const cookies = [await logins.logInByProvider("alice"), await logins.logInByProvider("bob")];
  await until(() => provider.refreshTokens() === 2);
  t.ok(await logOut(logins, cookies[0] ?? ""));
  await until(() => provider.refreshTokens() === 1);
  t.equal((await logins.caller(...withSession(cookies[1] ?? ""))).actor, "user/bob@corp");
  t.same(logins.failures, []);
});

test("a logout does not fail, and is not late, when the token cannot be revoked", async (t) => {
  const logins = await startLogins(t);
  const { provider } = logins;
  const cookie = await logins.logInByProvider("alice");
  const other = await logins.logInByProvider("bob");
  let refuse = () => {};
  provider.takeover = (request, response) => {
    const isRevocation = request.url === revocation;
    if (isRevocation) {
      refuse = () => void response.writeHead(503).end();
    }
    return isRevocation;
  };
  t.ok(await logOut(logins, cookie), "before the provider has answered");
  await until(() => provider.requests.includes(revocation));
  refuse();
  await until(() => logins.failures.some((line) => /corp was not revoked when the login ended/.test(line)));
  t.equal(await reasonOf(logins.caller(...withSession(cookie))), "TOKEN_REVOKED");

  await provider.stop();
  const before = logins.failures.length;
  t.ok(await logOut(logins, other));
  await until(() => logins.failures.slice(before).some((line) => /was not revoked/.test(line)));
});

test("nothing is sent to a provider that cannot revoke tokens", async (t) => {
  const logins = await startLogins(t, { revokesTokens: false });
  const { provider } = logins;
  t.ok(await logOut(logins, await logins.logInByProvider("alice")));
  await logins.auth.close();
  t.notOk(provider.requests.includes(revocation));
  t.same(logins.failures, []);
});

test("the gateway ends after the revocations that have begun", async (t) => {
  const logins = await startLogins(t);
  t.ok(await logOut(logins, await logins.logInByProvider("alice")));
  await logins.auth.close();
  t.equal(logins.provider.refreshTokens(), 0);
});

test("a token that the provider issues during the logout is revoked, too", async (t) => {
  const logins = await startLogins(t);
  const { provider } = logins;
  const cookie = await logins.logInByProvider("alice");
  let answer: (() => void) | undefined;
  provider.takeover = (request, response) => {
    if (request.url === "/token" && answer === undefined) {
      // The provider has replaced the token, and its answer is on the way.
      const end = response.end.bind(response) as (...parts: unknown[]) => typeof response;
      response.end = ((...parts: unknown[]) => {
        answer = () => void end(...parts);
        return response;
      }) as typeof response.end;
      return false;
    }
    // It revokes the token that it gets, and not those that have replaced it.
    const isFirst = request.url === revocation && !provider.requests.slice(0, -1).includes(revocation);
    if (isFirst) {
      response.writeHead(200).end();
    }
    return isFirst;
  };
  await until(async () => {
    void logins.caller(...withSession(cookie)).catch(() => {});
    return answer !== undefined;
  });
  t.ok(await logOut(logins, cookie));
  await until(() => provider.requests.includes(revocation));
  t.equal(provider.refreshTokens(), 1);
  answer?.();
  await until(() => provider.refreshTokens() === 0);
  t.same(logins.failures, []);
});

/** What ends a login of alice, besides a logout. Returns once it has ended here. */
const otherEnds: Readonly<Record<string, (logins: LoginsUnderTest, cookie: string) => Promise<void>>> = {
  async "the removal of the user"({ auth }) {
    await auth.users.remove("alice@corp");
  },
  async "a logout at the provider"({ auth, provider }) {
    const token = await provider.sign({ ...logoutClaims(provider), sub: "alice" });
    const result = await auth.logOutByProvider("corp", token, "10.0.0.1", AbortSignal.timeout(60_000));
    if (result !== "ended") {
      throw new Error(`the logout token is ${result}`);
    }
  },
  async "the loss of the user's groups"({ provider, caller }, cookie) {
    provider.users.set("alice", []);
    await until(async () => (await reasonOf(caller(...withSession(cookie)))) !== undefined);
  },
  async "the removal of the user at the provider"({ provider, caller }, cookie) {
    provider.users.delete("alice");
    await until(async () => (await reasonOf(caller(...withSession(cookie)))) !== undefined);
  },
};

for (const [what, end] of Object.entries(otherEnds)) {
  test(`${what} revokes the refresh tokens at the provider`, async (t) => {
    const logins = await startLogins(t);
    const { provider } = logins;
    const other = await logins.logInByProvider("bob");
    const cookie = await logins.logInByProvider("alice");
    await end(logins, cookie);
    await until(() => provider.refreshTokens() === 1);
    t.ok(provider.requests.includes(revocation));
    t.equal((await logins.caller(...withSession(other))).actor, "user/bob@corp");
  });

  test(`${what} ends the login although the token cannot be revoked`, async (t) => {
    const logins = await startLogins(t);
    const { provider } = logins;
    const cookie = await logins.logInByProvider("alice");
    const refusals: (() => void)[] = [];
    provider.takeover = (request, response) => {
      const isRevocation = request.url === revocation;
      if (isRevocation) {
        refusals.push(() => void response.writeHead(503).end());
      }
      return isRevocation;
    };
    await end(logins, cookie);
    const refused = /^TOKEN_(REVOKED|INVALID)$/;
    t.match(await reasonOf(logins.caller(...withSession(cookie))), refused, "before the provider answers");
    await until(() => refusals.length === 1);
    refusals[0]?.();
    await until(() => logins.failures.some((line) => /corp was not revoked when the login ended/.test(line)));
    t.match(await reasonOf(logins.caller(...withSession(cookie))), refused);
  });
}

test("a plan of a removal revokes nothing", async (t) => {
  const logins = await startLogins(t);
  const cookie = await logins.logInByProvider("alice");
  await logins.auth.users.remove("alice@corp", { dryRun: true });
  t.equal((await logins.caller(...withSession(cookie))).actor, "user/alice@corp");
  await logins.auth.close();
  t.notOk(logins.provider.requests.includes(revocation));
});

test("the tokens of logins that have expired are revoked at the next login", async (t) => {
  const { provider, store } = await startLogins(t);
  const providers = [await providerConfig(t, provider)];
  // A login lasts 3.6 seconds, and is not checked meanwhile.
  const config = { publicUrl, tokenHours: 0.001, checkSeconds: 60, providers };
  const auth = await startAuth(t, store, config);
  const cookie = await logInByProvider(auth, provider.issuer, "alice");
  await until(async () => (await reasonOf(auth.caller(...withSession(cookie)))) === "TOKEN_EXPIRED");
  await until(async () => {
    await logInByProvider(auth, provider.issuer, "bob");
    return provider.requests.includes(revocation);
  });
});
