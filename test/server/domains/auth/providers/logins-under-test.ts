import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { LoginService } from "../../../../../gen/hostplane/v1/login_pb.ts";
import type { ProviderConfig } from "../../../../../server/config/provider-schema.ts";
import type { Store } from "../../../../../server/store/store.ts";
import {
  clientId,
  clientSecret,
  createFormBrowser,
  type ProviderUnderTest,
  type ProviderUnderTestOptions,
  startProviderUnderTest,
} from "../../../harness/provider-under-test.ts";
import { type AuthUnderTest, openAuthStore, startAuth } from "../auth-under-test.ts";

export const publicUrl = "https://gateway.test";
/** Returns a request of the gateway's own page. */
const pageAt = (origin: string) => ({ headers: { origin }, peer: { authority: new URL(origin).host } });
export const fromPage = pageAt(publicUrl);

async function writeSecret(t: Pick<Test, "teardown">): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-oidc-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "secret");
  await writeFile(file, `${clientSecret}\n`, { mode: 0o600 });
  return file;
}

/** Returns the configuration of a provider under test. */
export async function providerConfig(
  t: Pick<Test, "teardown">,
  { issuer }: Pick<ProviderUnderTest, "issuer">,
  settings: Partial<ProviderConfig> = {},
): Promise<ProviderConfig> {
  return {
    name: "corp",
    title: "Example Corp",
    issuer,
    clientId,
    clientSecretFile: await writeSecret(t),
    clientAuthentication: "basic",
    scopes: ["openid", "profile", "offline_access"],
    parameters: [],
    nameClaim: "preferred_username",
    groupsClaim: "groups",
    roles: [
      { group: "infra-admins", role: "admin" },
      { group: "infra-*", role: "viewer" },
    ],
    endSession: true,
    ...settings,
  };
}

/** A gateway's authentication with one provider. */
export interface LoginsUnderTest extends AuthUnderTest {
  readonly provider: ProviderUnderTest;
  readonly store: Store;
  /** Failures of background work. */
  readonly failures: readonly string[];
  /** Logs in by the provider as a browser does, and returns the cookie of the session. */
  logInByProvider(name: string): Promise<string>;
}

/** Starts a provider and a gateway's authentication that checks sessions every second. */
export async function startLogins(
  t: Test,
  options: Partial<ProviderUnderTestOptions> = {},
  url?: string,
): Promise<LoginsUnderTest> {
  const provider = await startProviderUnderTest(t, {
    redirectUrls: [`${publicUrl}/oidc/corp/callback`],
    ...options,
  });
  const store = await openAuthStore(t, url);
  const failures: string[] = [];
  const providers = [await providerConfig(t, provider)];
  const config = { publicUrl, checkSeconds: 1, providers };
  const auth = await startAuth(t, store, config, (message) => void failures.push(message));
  return {
    ...auth,
    provider,
    store,
    failures,
    logInByProvider: (name) => logInByProvider(auth, provider.issuer, name),
  };
}

/** A login that the provider has confirmed, before the gateway has redeemed the code. */
export interface ReturnedLogin {
  /** The query of the callback. */
  readonly parameters: string;
  /** The cookie of the login that has begun. */
  readonly cookie: string;
}

/** Begins a login and logs in at the provider. */
export async function beginAtProvider(
  { call }: Pick<AuthUnderTest, "call">,
  issuer: string,
  name: string,
  origin = publicUrl,
): Promise<ReturnedLogin> {
  const begun = await call(LoginService.method.beginLogin, { provider: "corp" }, pageAt(origin));
  const returned = await createFormBrowser(issuer).logIn(begun.message.authorizationUrl, name);
  return { parameters: returned.search.slice(1), cookie: cookiesIn(begun.headers)[0] ?? "" };
}

/** Finishes a login. @returns the cookie of the session */
export async function finishLogin(
  { call }: Pick<AuthUnderTest, "call">,
  { parameters, cookie }: ReturnedLogin,
  provider = "corp",
  origin = publicUrl,
): Promise<string> {
  const { headers, peer } = pageAt(origin);
  const from = { peer, headers: { ...headers, cookie } };
  const finished = await call(LoginService.method.finishLogin, { provider, parameters }, from);
  return cookiesIn(finished.headers).find((one) => one.includes("session=")) ?? "";
}

/** Logs in by the provider and returns the cookie of the session. */
export async function logInByProvider(
  auth: Pick<AuthUnderTest, "call">,
  issuer: string,
  name: string,
  origin = publicUrl,
): Promise<string> {
  return finishLogin(auth, await beginAtProvider(auth, issuer, name, origin), "corp", origin);
}

/** Returns what identifies the caller of a page with this session. */
export function withSession(cookie: string) {
  return [{ cookie, origin: publicUrl }, fromPage.peer] as const;
}

/** Returns the cookies that an answer sets, as a browser returns them. */
export function cookiesIn(headers: Headers): readonly string[] {
  return headers.getSetCookie().flatMap((line) => line.split(";", 1));
}
