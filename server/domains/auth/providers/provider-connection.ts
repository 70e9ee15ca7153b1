import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  genericGrantRequest,
  initiateDeviceAuthorization,
  refreshTokenGrant,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  tokenRevocation,
} from "openid-client";
import type { ProviderConfig } from "../../../config/provider-schema.ts";
import { createDiscovery, type DiscoveredProvider, isUnknownKey } from "./discover-provider.ts";
import { createProviderFetch } from "./provider-fetch.ts";
import { logoutTokenChecks, type ProviderLogout, providerLogoutFrom } from "./provider-logout.ts";
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
  readonly idToken: string | undefined;
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
  /**
   * Returns the URL at which a browser ends its session at the provider (OpenID Connect RP-Initiated Logout 1.0, 2).
   * @param idToken names that session; absent: the provider asks the user
   * @returns undefined when the provider has none
   */
  endSessionUrl(idToken: string | undefined): Promise<URL | undefined>;
  /** Makes a refresh token useless (RFC 7009). Does nothing when the provider cannot revoke tokens. */
  revoke(refreshToken: string): Promise<void>;
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
  /** Where browsers return after a logout at the provider. */
  readonly loggedOutUrl: string;
}

/** No request waits longer for the provider. */
const timeoutMs = 5_000;

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** Creates the connection. Nothing is sent before it is used, so an unreachable provider does not prevent the start. */
export function createProviderConnection(options: ProviderConnectionOptions): ProviderConnection {
  const { config, clientSecret, ca, redirectUrl, loggedOutUrl } = options;
  const { fetch, close } = createProviderFetch({ ca, timeoutMs });
  const known = createDiscovery({ config, clientSecret, fetch, timeoutMs });

  /** @param subject the user who must be the same; undefined at a login, where the ID token says who it is */
  async function confirmed(
    provider: DiscoveredProvider,
    tokens: Tokens,
    subject?: string,
  ): Promise<ConfirmedLogin> {
    let claims: Record<string, unknown> = {};
    if (tokens.id_token !== undefined) {
      // The library leaves the signature to TLS.
      claims = await provider.verify(tokens.id_token);
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
      throw new Error("the provider returned no ID token and has no userinfo endpoint");
    }
    const { refresh_token: refreshToken, id_token: idToken } = tokens;
    return { user: providerUserFrom(claims, config), refreshToken, idToken };
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

    async endSessionUrl(idToken) {
      const { client } = await known();
      if (client.serverMetadata().end_session_endpoint === undefined) {
        return undefined;
      }
      return buildEndSessionUrl(client, {
        post_logout_redirect_uri: loggedOutUrl,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      });
    },

    async revoke(refreshToken) {
      const { client } = await known();
      if (client.serverMetadata().revocation_endpoint !== undefined) {
        await tokenRevocation(client, refreshToken, { token_type_hint: "refresh_token" });
      }
    },

    async verifyLogout(logoutToken) {
      const provider = await known();
      try {
        return providerLogoutFrom(await provider.verify(logoutToken, logoutTokenChecks));
      } catch (error) {
        // Anyone can send a token with a key that does not exist.
        throw isUnknownKey(error) ? refusedLogin("none of its keys signed this", error) : error;
      }
    },

    close,
  };
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}
