import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import Provider, { type Configuration } from "oidc-provider";
import type { Test } from "tap";
import { createProviderStorage } from "./provider-storage.ts";

/** ID and secret of the gateway at every provider under test. */
export const clientId = "hostplane";
export const clientSecret = "the secret of a test's client";

/** An answer of a provider that lies, or is slow: takes over a request, or returns false. */
export type Takeover = (request: IncomingMessage, response: ServerResponse) => boolean;

/** An identity provider in this process, on a free port of loopback. */
export interface ProviderUnderTest {
  readonly issuer: string;
  /** Groups of the users, by their names. A user who is removed here no longer exists. */
  readonly users: Map<string, readonly string[]>;
  /** The keys that sign now. Signs a token with the claims, as the provider would. */
  sign(claims: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, string>>): Promise<string>;
  /** Calls the client's back-channel logout URL for a user, as after a logout at the provider. */
  logOut(name: string): Promise<void>;
  /** Signs with new keys from now on; the old ones are no longer published. */
  rotateKeys(): Promise<void>;
  /** Takes over requests until it is set to undefined. */
  takeover: Takeover | undefined;
  /** Paths of the requests that arrived. */
  readonly requests: readonly string[];
  /** Returns how many refresh tokens are valid. */
  refreshTokens(): number;
  /** Stops listening for good. */
  stop(): Promise<void>;
}

/** Returns the claims of a logout token (OpenID Connect Back-Channel Logout 1.0, 2.4), without a user or a session. */
export function logoutClaims({
  issuer,
}: Pick<ProviderUnderTest, "issuer">): Readonly<Record<string, unknown>> {
  return {
    iss: issuer,
    aud: clientId,
    iat: Math.floor(Date.now() / 1000),
    jti: crypto.randomUUID(),
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  };
}

export interface ProviderUnderTestOptions {
  /** Whether it issues refresh tokens; default true. */
  readonly issuesRefreshTokens?: boolean;
  /** Whether it can revoke tokens; default true. */
  readonly revokesTokens?: boolean;
  readonly redirectUrls: readonly string[];
  /** Configured as the client's `backchannel_logout_uri`. */
  readonly logoutUrl?: string;
}

/** Starts a provider with the users `alice` (group infra-admins), `bob` (group infra-watchers) and `carol` (no group). */
export async function startProviderUnderTest(
  t: Pick<Test, "teardown">,
  options: ProviderUnderTestOptions,
): Promise<ProviderUnderTest> {
  const users = new Map<string, readonly string[]>([
    ["alice", ["infra-admins"]],
    ["bob", ["infra-watchers"]],
    ["carol", []],
  ]);
  const requests: string[] = [];
  let provider: Provider | undefined;
  let handler: (request: IncomingMessage, response: ServerResponse) => unknown = () => {};
  const server = createServer((request, response) => {
    requests.push(new URL(request.url ?? "/", "http://any").pathname);
    if (underTest.takeover?.(request, response) !== true) {
      handler(request, response);
    }
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  t.teardown(stop);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const { adapter, countOf } = createProviderStorage();
  let key: JWK = {};

  async function useNewKeys(): Promise<void> {
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    key = { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig", kid: crypto.randomUUID() };
    provider = new Provider(issuer, { ...configurationOf(options, users, key), adapter });
    handler = createHandler(provider);
  }

  const underTest: ProviderUnderTest = {
    issuer,
    users,
    requests,
    takeover: undefined,
    sign: (claims, header = {}) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "ES256", kid: key.kid ?? "", ...header })
        .sign(key),
    async logOut(name) {
      const client = await provider?.Client.find(clientId);
      // Of no session in particular. The types of the package do not know the method.
      await (client as { backchannelLogout?(sub: string): Promise<void> }).backchannelLogout?.(name);
    },
    rotateKeys: useNewKeys,
    refreshTokens: () => countOf("RefreshToken"),
    stop,
  };
  await useNewKeys();
  return underTest;
}

function configurationOf(
  { issuesRefreshTokens = true, revokesTokens = true, redirectUrls, logoutUrl }: ProviderUnderTestOptions,
  users: ProviderUnderTest["users"],
  key: JWK,
): Configuration {
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...redirectUrls],
        post_logout_redirect_uris: redirectUrls.map((url) => new URL("/", url).href),
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        response_types: ["code"],
        id_token_signed_response_alg: "ES256",
        ...(logoutUrl === undefined ? {} : { backchannel_logout_uri: logoutUrl }),
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ["the key of a test's cookies"] },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      backchannelLogout: { enabled: true },
      revocation: {
        enabled: revokesTokens,
        allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource(context, form) {
          context.body = `<!doctype html><title>Sign out</title>${form}
<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`;
        },
      },
    },
    claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    // Its own dispatcher refuses addresses of loopback.
    fetch: (url, { dispatcher: _dispatcher, ...request } = {}) => fetch(url, request),
    issueRefreshToken: () => issuesRefreshTokens,
    rotateRefreshToken: true,
    ttl: { AccessToken: 60, Grant: 3600, IdToken: 60, Interaction: 600, RefreshToken: 3600, Session: 3600 },
    findAccount(_context, id) {
      const groups = users.get(id);
      const claims = { sub: id, preferred_username: `${id}@example.org`, groups: [...(groups ?? [])] };
      return groups === undefined ? undefined : { accountId: id, claims: () => claims };
    },
    async loadExistingGrant({ oidc }) {
      // No user is asked for consent.
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? "",
        accountId: oidc.session?.accountId ?? "",
      });
      grant.addOIDCScope("openid profile offline_access");
      await grant.save();
      return grant;
    },
  };
}

/** Answers as the provider does, with a login page that asks only for a name. */
function createHandler(provider: Provider) {
  const callback = provider.callback();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!(request.url ?? "").startsWith("/interaction/")) {
      await callback(request, response);
      return;
    }
    if (request.method === "POST") {
      const accountId = new URLSearchParams(await text(request)).get("login") ?? "";
      await provider.interactionFinished(request, response, { login: { accountId } });
      return;
    }
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><title>Sign in</title><form method="post">
<label>Name <input name="login"></label><button>Sign in</button></form>`);
  };
}

/** A browser without a window: follows redirects, keeps cookies, and submits forms. */
export interface FormBrowser {
  /** Opens a page and logs in as this user where a page asks for it. @returns the URL of the gateway that it ends at */
  logIn(url: string, name: string): Promise<URL>;
  /** Opens the page that ends the session at the provider, and confirms it. @returns the URL of the gateway that it ends at */
  logOut(url: string): Promise<URL>;
  /** Confirms a device login as this user. */
  confirmDevice(url: string, name: string): Promise<void>;
}

/** @param issuer the only host that it opens pages of */
export function createFormBrowser(issuer: string): FormBrowser {
  const cookies = new Map<string, string>();

  /** Loads a page, and follows redirects until one leaves the provider. */
  async function load(url: string, form?: URLSearchParams): Promise<{ url: URL; html: string }> {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) {
      return { url: new URL(url), html: await response.text() };
    }
    const next = new URL(location, url);
    return next.origin === issuer ? load(next.href) : { url: next, html: "" };
  }

  /** Submits forms, with the name where one is asked for, until there is none. */
  async function submitForms(url: string, name: string): Promise<{ url: URL; html: string }> {
    let page = await load(url);
    while (page.html.includes("<form")) {
      const [, action = page.url.href] = /<form[^>]* action="([^"]+)"/.exec(page.html) ?? [];
      const form = new URLSearchParams({ login: name, confirm: "yes", logout: "yes" });
      for (const [input] of page.html.matchAll(/<input[^>]*>/g)) {
        const [, field] = / name="([^"]+)"/.exec(input) ?? [];
        const [, value] = / value="([^"]*)"/.exec(input) ?? [];
        if (field !== undefined && value !== undefined) {
          form.set(field, value);
        }
      }
      page = await load(new URL(action, page.url).href, form);
    }
    return page;
  }

  return {
    logIn: async (url, name) => (await submitForms(url, name)).url,
    logOut: async (url) => (await submitForms(url, "")).url,
    confirmDevice: async (url, name) => void (await submitForms(url, name)),
  };
}
