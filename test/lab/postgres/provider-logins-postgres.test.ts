import { test } from "tap";
import { openAuthStore, reasonOf, startAuth } from "../../server/domains/auth/auth-under-test.ts";
import {
  beginAtProvider,
  finishLogin,
  logInByProvider,
  providerConfig,
  publicUrl,
  withSession,
} from "../../server/domains/auth/providers/logins-under-test.ts";
import { startProviderUnderTest } from "../../server/harness/provider-under-test.ts";
import { until } from "../../server/harness/until.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("logins by an identity provider on several gateways with one PostgreSQL", { skip }, async (t) => {
  const postgres = await startPostgres(t);

  async function startReplicas() {
    const provider = await startProviderUnderTest(t, { redirectUrls: [`${publicUrl}/oidc/corp/callback`] });
    const config = { publicUrl, checkSeconds: 1, providers: [await providerConfig(t, provider)] };
    const url = await postgres.createDatabase();
    const here = await startAuth(t, await openAuthStore(t, url), config);
    const there = await startAuth(t, await openAuthStore(t, url), config);
    return { provider, here, there };
  }

  t.test("a login that began at one gateway ends at the other, and is valid on both", async (t) => {
    const { provider, here, there } = await startReplicas();
    const returned = await beginAtProvider(here, provider.issuer, "alice");
    const session = withSession(await finishLogin(there, returned));
    const callers = await Promise.all([here.caller(...session), there.caller(...session)]);
    t.match(callers, [{ actor: "user/alice@corp" }, { actor: "user/alice@corp" }]);
    t.equal(await reasonOf(finishLogin(here, returned)), "LOGIN_REFUSED", "the code is used up everywhere");
  });

  t.test("a session in use on both is checked by one of them at a time, with a rotating token", async (t) => {
    const { provider, here, there } = await startReplicas();
    const session = withSession(await logInByProvider(here, provider.issuer, "alice"));
    const refreshes = () => provider.requests.filter((path) => path === "/token").length;
    const before = refreshes();
    await until(async () => {
      await Promise.all([here.caller(...session), there.caller(...session)]);
      return refreshes() >= before + 5;
    });
    t.match(await there.caller(...session), { actor: "user/alice@corp" });
  });

  t.test("a user who is removed at the provider is out on both", async (t) => {
    const { provider, here, there } = await startReplicas();
    const session = withSession(await logInByProvider(here, provider.issuer, "alice"));
    const streams = [await here.caller(...session), await there.caller(...session)];
    provider.users.delete("alice");
    const isOpen = (stream: (typeof streams)[number]) => {
      try {
        return stream.current() !== undefined;
      } catch {
        return false;
      }
    };
    await until(() => !streams.some(isOpen));
    t.equal(await reasonOf(here.caller(...session)), "TOKEN_REVOKED");
    t.equal(await reasonOf(there.caller(...session)), "TOKEN_REVOKED");
  });
});
