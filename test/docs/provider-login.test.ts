import { test } from "tap";
import { parse } from "yaml";
import { configSchema } from "../../server/gateway/config/schema.ts";
import { openAuthStore, startAuth } from "../server/domains/auth/auth-under-test.ts";
import { logInByProvider, providerConfig } from "../server/domains/auth/providers/logins-under-test.ts";
import { startProviderUnderTest } from "../server/harness/provider-under-test.ts";
import { blocksOf, readPage } from "./markdown.ts";

test("with the configuration of the guide, users log in with the roles and grants of their groups", async (t) => {
  const page = readPage("docs/how-to/log-in-by-your-identity-provider.md");
  const block = blocksOf(page).find(({ language }) => language === "yaml");
  const { auth: config } = configSchema.parse(parse(block?.text ?? ""));
  const { publicUrl, providers } = config;
  const provider = await startProviderUnderTest(t, { redirectUrls: [`${publicUrl}/oidc/corp/callback`] });
  // Only the addresses, and the place of the secret, differ.
  const { issuer, clientSecretFile } = await providerConfig(t, provider);
  const own = providers.map((one) => ({ ...one, issuer, ...(clientSecretFile && { clientSecretFile }) }));
  const auth = await startAuth(t, await openAuthStore(t), { ...config, providers: own });
  const origin = new URL(publicUrl ?? "");
  provider.users.set("dave", ["team-db"]);
  for (const [name, role, grants] of [
    ["alice", "admin", undefined],
    ["bob", "viewer", undefined],
    ["dave", "operator", { list: [{ role: "operator" }, { role: "viewer", hosts: ["db-*"] }] }],
  ] as const) {
    const cookie = await logInByProvider(auth, issuer, name, origin.origin);
    const caller = await auth.caller({ cookie, origin: origin.origin }, { authority: origin.host });
    t.match(caller, { actor: `user/${name}@corp`, role, grants });
  }
});
