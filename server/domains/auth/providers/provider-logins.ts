import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { MasterKeys } from "../../../crypto/master-keys.ts";
import { createSeal } from "../../../crypto/seal.ts";
import type { ServiceRegistration } from "../../../rpc/call/service-handlers.ts";
import type { Store } from "../../../store/store.ts";
import type { KnownMethods } from "../access/account-grants.ts";
import { authReasons } from "../reasons.ts";
import type { SessionTokens } from "../sessions/session-token.ts";
import { createAddressTurns } from "./address-turns.ts";
import { groupRuleMistakesOf } from "./group-rule-mistakes.ts";
import { createLoginService } from "./login-service.ts";
import { openProviders, type ProvidersConfig } from "./open-providers.ts";
import { createPendingLogins } from "./pending-login.ts";
import { createProviderSessions, type ProviderSessions } from "./provider-sessions.ts";

/** Options of `openProviderLogins`. */
export interface ProviderLoginsOptions {
  readonly store: Pick<Store, "run">;
  readonly masterKeys: MasterKeys;
  readonly config: ProvidersConfig & { readonly tokenHours: number; readonly checkSeconds: number };
  /** The services and methods of the contract. */
  readonly known: KnownMethods;
  readonly refreshState: () => Promise<void>;
  readonly sessionTokens: Pick<SessionTokens, "sign">;
  readonly onFailed: (message: string, error: unknown) => void;
}

/** Result of a logout token: the sessions are ended, the token is not valid, or the provider's keys cannot be read now. */
export type LogoutResult = "ended" | "refused" | "unavailable";

/**
 * Ends the sessions that a provider's logout token names (OpenID Connect Back-Channel Logout 1.0).
 * @param address of the caller, which anyone can be
 */
export type LogOutByProvider = (
  provider: string,
  logoutToken: string,
  address: string,
  signal: AbortSignal,
) => Promise<LogoutResult>;

/** Logins by identity providers. */
export interface ProviderLogins {
  readonly registration: ServiceRegistration;
  readonly sessions: Pick<ProviderSessions, "use" | "endSessionUrl" | "revokeTokens">;
  readonly logOutByProvider: LogOutByProvider;
  close(): Promise<void>;
}

const hourMs = 60 * 60 * 1000;

/** @throws Error that names the key of the configuration, and the file that cannot be read or what cannot be granted */
export async function openProviderLogins(options: ProviderLoginsOptions): Promise<ProviderLogins> {
  const { store, masterKeys, config, refreshState, sessionTokens, onFailed } = options;
  const [mistake] = groupRuleMistakesOf(config.providers, options.known);
  if (mistake !== undefined) {
    throw new Error(mistake);
  }
  const providers = await openProviders(config, onFailed);
  const sessions = createProviderSessions({
    store,
    providers,
    seal: createSeal(masterKeys, "provider-session"),
    refreshState,
    checkMs: config.checkSeconds * 1000,
    lifetimeMs: config.tokenHours * hourMs,
    onFailed,
  });
  const turns = createAddressTurns();
  return {
    registration: createLoginService({
      providers,
      publicUrl: config.publicUrl,
      pendingLogins: createPendingLogins(createSeal(masterKeys, "pending-login")),
      sessions,
      sessionTokens,
    }),
    sessions,
    async logOutByProvider(name, logoutToken, address, signal) {
      const provider = providers.get(name);
      if (provider === undefined) {
        return "refused";
      }
      try {
        const verify = () => provider.use((connection) => connection.verifyLogout(logoutToken));
        await sessions.end(name, await turns.run(address, verify, signal));
        return "ended";
      } catch (error) {
        if (hasReason(error, authReasons.LOGIN_REFUSED)) {
          return "refused";
        }
        if (error instanceof InfraError) {
          return "unavailable";
        }
        throw error;
      }
    },
    async close() {
      await sessions.close();
      await Promise.all([...providers.values()].map((provider) => provider.close()));
    },
  };
}
