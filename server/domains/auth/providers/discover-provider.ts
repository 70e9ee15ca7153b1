import {
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  customFetch as joseFetch,
  jwtVerify,
} from "jose";
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  None,
} from "openid-client";
import type { ProviderConfig } from "../../../config/provider-schema.ts";
import type { ProviderFetch } from "./provider-fetch.ts";

/** A provider as it describes itself, and its keys. */
export interface DiscoveredProvider {
  readonly client: Configuration;
  /**
   * Verifies that the provider signed a token for this gateway. The keys are requested again for an unknown one.
   * @throws JOSEError when it did not
   */
  verify(token: string, options?: JWTVerifyOptions): Promise<JWTPayload>;
}

/** Options of `createDiscovery`. */
export interface DiscoveryOptions {
  readonly config: ProviderConfig;
  readonly clientSecret: string | undefined;
  readonly fetch: ProviderFetch;
  /** No request waits longer for the provider. */
  readonly timeoutMs: number;
}

/** The description of a provider changes rarely; its keys have their own cache. */
const keptMs = 60 * 60 * 1000;
/** Between two requests for keys, since anyone can send tokens with a key that does not exist. */
const keysCooldownMs = 2_000;
const clockToleranceSeconds = 30;

/** Signatures that only the provider can make. `none` and those by the client's secret are not among them. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** Creates the function that returns what is known of the provider. Callers share one request for it. */
export function createDiscovery(options: DiscoveryOptions): () => Promise<DiscoveredProvider> {
  let known: { readonly provider: DiscoveredProvider; readonly atMs: number } | undefined;
  let discovering: Promise<DiscoveredProvider> | undefined;
  return async () => {
    if (known !== undefined && performance.now() - known.atMs < keptMs) {
      return known.provider;
    }
    discovering ??= discover(options).finally(() => {
      discovering = undefined;
    });
    const provider = await discovering;
    known = { provider, atMs: performance.now() };
    return provider;
  };
}

async function discover({
  config,
  clientSecret,
  fetch,
  timeoutMs,
}: DiscoveryOptions): Promise<DiscoveredProvider> {
  const isCleartext = config.issuer.startsWith("http:");
  const authentication = authenticationBy(config.clientAuthentication, clientSecret);
  const client = await discovery(new URL(config.issuer), config.clientId, undefined, authentication, {
    timeout: timeoutMs / 1000,
    [customFetch]: fetch,
    ...(isCleartext ? { execute: [allowInsecureRequests] } : {}),
  });
  const { issuer, jwks_uri: keysUrl = "" } = client.serverMetadata();
  if (!keysUrl.startsWith("https:") && !isCleartext) {
    throw new Error("the provider has no https URL of its keys (jwks_uri)");
  }
  const keys = createRemoteJWKSet(new URL(keysUrl), {
    [joseFetch]: fetch,
    timeoutDuration: timeoutMs,
    cooldownDuration: keysCooldownMs,
  });
  const ours = { algorithms, issuer, audience: config.clientId, clockTolerance: clockToleranceSeconds };
  return {
    client,
    verify: async (token, further) => (await jwtVerify(token, keys, { ...further, ...ours })).payload,
  };
}

function authenticationBy(method: ProviderConfig["clientAuthentication"], secret: string | undefined) {
  if (secret === undefined) {
    return None();
  }
  return method === "post" ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}

/** Reports whether a token was signed with a key that the provider does not publish. */
export function isUnknownKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey;
}
