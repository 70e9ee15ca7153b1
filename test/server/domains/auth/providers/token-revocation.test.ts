import { test } from "tap";
import { AuthService } from "../../../../../gen/services/auth/auth_pb.ts";
import { until } from "../../../harness/until.ts";
import { reasonOf } from "../auth-under-test.ts";
import { type LoginsUnderTest, startLogins, withSession } from "./logins-under-test.ts";

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
  await until(() => logins.failures.some((line) => /corp was not revoked after its logout/.test(line)));
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
