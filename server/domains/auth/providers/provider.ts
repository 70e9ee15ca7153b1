import { createOnce } from "../../../../adapters/host/create-once.ts";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { ProviderConfig } from "../../../config/provider-schema.ts";
import { type AccountAccess, accessOfGrants, explainExcess } from "../access/account-grants.ts";
import { authReasons } from "../reasons.ts";
import { grantsFromGroups } from "./grants-from-groups.ts";
import type { ProviderConnection } from "./provider-connection.ts";

/** An identity provider. */
export interface Provider {
  readonly name: string;
  readonly title: string;
  /** Whether a logout here is one at the provider, too. */
  readonly endsSession: boolean;
  /** Returns what a member of these groups may do. @throws InfraError LOGIN_WITHOUT_ROLE */
  accessOf(groups: readonly string[]): AccountAccess;
  /**
   * Works with the provider. Its library is loaded at the first use.
   * @throws InfraError LOGIN_PENDING, LOGIN_REFUSED, PROVIDER_UNAVAILABLE
   */
  use<T>(task: (connection: ProviderConnection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Options of `createProvider`. */
export interface ProviderOptions {
  readonly config: ProviderConfig;
  readonly clientSecret: string | undefined;
  readonly ca: string | undefined;
  /** URL at which browsers reach the gateway. */
  readonly publicUrl: string;
  /** Called with the first failure, and again only after the provider has answered. */
  readonly onAway: (error: unknown) => void;
}

/** Returns the path of the page that the provider returns a browser to. */
function callbackPath(provider: string): string {
  return `/oidc/${provider}/callback`;
}

/**
 * Creates the provider without connecting to it.
 * @param options `publicUrl`: the page to return to is `/oidc/NAME/callback` below it
 */
export function createProvider(options: ProviderOptions): Provider {
  const { config, clientSecret, ca, publicUrl, onAway } = options;
  let isAway = false;
  const loaded = createOnce(async () => {
    const [{ createProviderConnection }, { errorFromProvider }] = await Promise.all([
      import("./provider-connection.ts"),
      import("./provider-error.ts"),
    ]);
    const redirectUrl = new URL(callbackPath(config.name), publicUrl).href;
    const loggedOutUrl = new URL("/", publicUrl).href;
    const connection = createProviderConnection({ config, clientSecret, ca, redirectUrl, loggedOutUrl });
    return { connection, errorFromProvider };
  });

  return {
    name: config.name,
    title: config.title ?? config.name,
    endsSession: config.endSession,
    accessOf(groups) {
      const grants = grantsFromGroups(config.roles, groups);
      const excess = explainExcess(grants);
      const why =
        grants.length === 0
          ? "none of the user's groups has a role on this gateway: ask an administrator for one"
          : excess && `the rules for the user's groups grant too much: expected ${excess}`;
      if (why !== undefined) {
        throw new InfraError(
          authReasons.LOGIN_WITHOUT_ROLE,
          `the identity provider ${config.name} confirmed the login, but ${why}`,
        );
      }
      return accessOfGrants(grants);
    },
    async use(task) {
      const { connection, errorFromProvider } = await loaded.get();
      try {
        const result = await task(connection);
        isAway = false;
        return result;
      } catch (thrown) {
        const error = errorFromProvider(thrown, config.name);
        if (hasReason(error, authReasons.PROVIDER_UNAVAILABLE) && !isAway) {
          isAway = true;
          onAway(error);
        }
        throw error;
      }
    },
    async close() {
      const created = await loaded.created()?.catch(() => undefined);
      await created?.connection.close();
    },
  };
}
