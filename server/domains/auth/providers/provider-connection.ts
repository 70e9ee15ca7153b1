import { createRemoteJWKSet, errors, type JWTPayload, customFetch as joseFetch, jwtVerify } from "jose";
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  fetchUserInfo,
  genericGrantRequest,
  initiateDeviceAuthorization,
  None,
  refreshTokenGrant,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from "openid-client";
import type { ProviderConfig } from "../../../config/provider-schema.ts";
import { createProviderFetch } from "./provider-fetch.ts";
import { type ProviderUser, providerUserFrom } from "./provider-user.ts";
import { refusedLogin } from "./refused-login.ts";

/** Texts of the login that are only valid for it. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** A login that the provider has confirmed. */
export interface ConfirmedLogin {
  readonly user: ProviderUser;
  /** Undefined if the provider issued none. */
  readonly refreshToken: string | undefined;
}

/** A device login that began at the provider. */
export interface DeviceLogin {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | undefined;
  readonly expiresInMs: number;
  readonly intervalMs: number;
}

/** The sessions that a logout token ends. */
export interface ProviderLogout {
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  readonly issuedAtMs: number;
}

/** The conversation with one identity provider. Its methods reject with InfraErrors and with errors of `openid-client`, `jose` and `undici`. */
export interface ProviderConnection {
  /** Returns the URL of the provider's login page. */
  authorizationUrl(checks: LoginChecks): Promise<URL>;
  /** Exchanges the code in the query of the callback. */
  redeem(parameters: string, checks: LoginChecks): Promise<ConfirmedLogin>;
  /** @returns undefined when the provider has no device logins */
  beginDevice(): Promise<DeviceLogin | undefined>;
  /** Asks once whether the user has confirmed a device login. */
  pollDevice(deviceCode: string): Promise<ConfirmedLogin>;
  /**
   * Checks that the user still exists, and returns the user as of now.
   * @param keep called with the new refresh token, if there is one, before anything else can fail: the old one is then used up
   */
  refresh(
    session: { readonly refreshToken: string; readonly subject: string },
    keep: (refreshToken: string) => Promise<void>,
  ): Promise<ProviderUser>;
  /** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0, 2.6). */
  verifyLogout(logoutToken: string): Promise<ProviderLogout>;
  close(): Promise<void>;
}

export interface ProviderConnectionOptions {
  readonly config: ProviderConfig;
  readonly clientSecret: string | undefined;
  /** PEM certificates to trust in place of the default ones. */
  readonly ca: string | undefined;
  readonly redirectUrl: string;
}

/** No request waits longer for the provider. */
const timeoutMs = 5_000;
/** The description of a provider changes rarely; its keys have their own cache. */
const metadataKeptMs = 60 * 60 * 1000;
/** Between two requests for keys, since anyone can send tokens with a key that does not exist. */
const keysCooldownMs = 2_000;
const clockToleranceSeconds = 60;
const logoutMaxAgeSeconds = 300;

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

/** Signatures that only the provider can make. `none` and those by the client's secret are not among them. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** The provider as it describes itself, and its keys. */
interface Discovered {
  readonly client: Configuration;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
  readonly atMs: number;
}

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** Creates the connection. Nothing is sent before it is used, so a provider that is away does not prevent the start. */
export function createProviderConnection(options: ProviderConnectionOptions): ProviderConnection {
  const { config, clientSecret, ca, redirectUrl } = options;
  const { fetch, close } = createProviderFetch({ ca, timeoutMs });
  const isCleartext = config.issuer.startsWith("http:");
  let discovered: Discovered | undefined;
  let discovering: Promise<Discovered> | undefined;

  async function discover(): Promise<Discovered> {
    const authentication =
      clientSecret === undefined
        ? None()
        : config.clientAuthentication === "post"
          ? ClientSecretPost(clientSecret)
          : ClientSecretBasic(clientSecret);
    const client = await discovery(new URL(config.issuer), config.clientId, undefined, authentication, {
      timeout: timeoutMs / 1000,
      [customFetch]: fetch,
      ...(isCleartext ? { execute: [allowInsecureRequests] } : {}),
    });
    const { jwks_uri: keysUrl = "" } = client.serverMetadata();
    if (!keysUrl.startsWith("https:") && !isCleartext) {
      throw new Error("the provider has no https URL of its keys (jwks_uri)");
    }
    const keys = createRemoteJWKSet(new URL(keysUrl), {
      [joseFetch]: fetch,
      timeoutDuration: timeoutMs,
      cooldownDuration: keysCooldownMs,
    });
    return { client, keys, atMs: performance.now() };
  }

  /** Returns what is known of the provider; callers share one request for it. */
  async function known(): Promise<Discovered> {
    if (discovered !== undefined && performance.now() - discovered.atMs < metadataKeptMs) {
      return discovered;
    }
    discovering ??= discover().finally(() => {
      discovering = undefined;
    });
    discovered = await discovering;
    return discovered;
  }

  /** Verifies what the library leaves to TLS: that the provider signed the ID token. */
  async function verify({ client, keys }: Discovered, token: string): Promise<JWTPayload> {
    const { issuer } = client.serverMetadata();
    const { payload } = await jwtVerify(token, keys, {
      algorithms,
      issuer,
      audience: config.clientId,
      clockTolerance: clockToleranceSeconds,
    });
    return payload;
  }

  /** @param subject the user who must be the same; undefined at a login, where the ID token says who it is */
  async function confirmed(provider: Discovered, tokens: Tokens, subject?: string): Promise<ConfirmedLogin> {
    let claims: Record<string, unknown> = {};
    if (tokens.id_token !== undefined) {
      claims = await verify(provider, tokens.id_token);
      if (subject !== undefined && claims.sub !== subject) {
        throw refusedLogin("it returned an ID token of another user");
      }
    } else if (subject === undefined) {
      throw refusedLogin("it returned no ID token");
    }
    const expected = subject ?? String(claims.sub);
    const hasUserInfo = provider.client.serverMetadata().userinfo_endpoint !== undefined;
    const isComplete = claims[config.groupsClaim] !== undefined && claims[config.nameClaim] !== undefined;
    if (!isComplete && hasUserInfo) {
      // The library refuses an answer about another user.
      claims = { ...(await fetchUserInfo(provider.client, tokens.access_token, expected)), ...claims };
    } else if (tokens.id_token === undefined) {
      throw new Error("the provider returned neither an ID token nor has it a userinfo endpoint");
    }
    return { user: providerUserFrom(claims, config), refreshToken: tokens.refresh_token };
  }

  return {
    async authorizationUrl({ state, nonce, codeVerifier }) {
      const { client } = await known();
      return buildAuthorizationUrl(client, {
        ...Object.fromEntries(config.parameters.map((text) => splitOnce(text))),
        redirect_uri: redirectUrl,
        scope: config.scopes.join(" "),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
      });
    },

    async redeem(parameters, { state, nonce, codeVerifier }) {
      const provider = await known();
      const url = new URL(redirectUrl);
      url.search = parameters;
      const tokens = await authorizationCodeGrant(provider.client, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      return confirmed(provider, tokens);
    },

    async beginDevice() {
      const { client } = await known();
      if (client.serverMetadata().device_authorization_endpoint === undefined) {
        return undefined;
      }
      const begun = await initiateDeviceAuthorization(client, { scope: config.scopes.join(" ") });
      return {
        deviceCode: begun.device_code,
        userCode: begun.user_code,
        verificationUri: begun.verification_uri,
        verificationUriComplete: begun.verification_uri_complete,
        expiresInMs: begun.expires_in * 1000,
        intervalMs: (begun.interval ?? 5) * 1000,
      };
    },

    async pollDevice(deviceCode) {
      const provider = await known();
      const tokens = await genericGrantRequest(provider.client, deviceGrant, { device_code: deviceCode });
      return confirmed(provider, tokens);
    },

    async refresh({ refreshToken, subject }, keep) {
      const provider = await known();
      const tokens = await refreshTokenGrant(provider.client, refreshToken);
      if (tokens.refresh_token !== undefined && tokens.refresh_token !== refreshToken) {
        await keep(tokens.refresh_token);
      }
      return (await confirmed(provider, tokens, subject)).user;
    },

    async verifyLogout(logoutToken) {
      const { client, keys } = await known();
      try {
        const { payload } = await jwtVerify(logoutToken, keys, {
          algorithms,
          issuer: client.serverMetadata().issuer,
          audience: config.clientId,
          clockTolerance: clockToleranceSeconds,
          maxTokenAge: logoutMaxAgeSeconds,
          requiredClaims: ["jti"],
        });
        return providerLogoutFrom(payload);
      } catch (error) {
        // Anyone can send a token with a key that does not exist.
        throw error instanceof errors.JWKSNoMatchingKey
          ? refusedLogin("its keys do not sign this", error)
          : error;
      }
    },

    close,
  };
}

/** @throws InfraError LOGIN_REFUSED when it is not a logout token */
function providerLogoutFrom({ sub, sid, iat = 0, nonce, events }: JWTPayload): ProviderLogout {
  const isLogout = typeof events === "object" && events !== null && logoutEvent in events;
  if (!isLogout || nonce !== undefined) {
    throw refusedLogin("the token is not a logout token");
  }
  const session = typeof sid === "string" ? sid : undefined;
  if (sub === undefined && session === undefined) {
    throw refusedLogin("the logout token names neither a user nor a session");
  }
  return { subject: sub, sid: session, issuedAtMs: iat * 1000 };
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}
