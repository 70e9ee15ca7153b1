import { UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import type { MasterKeys } from "../../crypto/master-keys.ts";
import { createSeal } from "../../crypto/seal.ts";
import { plannersOf } from "../../domain/change.ts";
import type { PlannerRegistration } from "../../operations/planner.ts";
import type { AccessRegistration } from "../../rpc/access/method-access.ts";
import { anonymous } from "../../rpc/call/caller.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import type { Store } from "../../store/store.ts";
import type { RuledMethod } from "./access/explain-access.ts";
import { createExplainRequest, type ExplainOptions } from "./access/explain-request.ts";
import { authMethodAccess } from "./access/method-access.ts";
import { createAuthState } from "./auth-state.ts";
import { type AuthenticateOptions, type AuthenticateRequest, createAuthenticate } from "./authenticate.ts";
import { createCallers } from "./callers.ts";
import { createAdministration } from "./changes/administration.ts";
import type { ProvidersConfig } from "./providers/open-providers.ts";
import { type LogOutByProvider, openProviderLogins } from "./providers/provider-logins.ts";
import { createAuthService } from "./service.ts";
import { createLoginThrottle } from "./sessions/login-throttle.ts";
import { createLogins, type Session } from "./sessions/logins.ts";
import { createSessionTokens } from "./sessions/session-token.ts";
import { ensureSigningKey, rotateSigningKey, signingKeyPurpose } from "./sessions/signing-keys.ts";
import { type ApiTokens, createApiTokens } from "./tokens/api-tokens.ts";
import { createTokenUse } from "./tokens/token-use.ts";
import { createUserService } from "./user-service.ts";
import { createUsers, type Users } from "./users.ts";

export interface AuthOptions {
  readonly store: Store;
  readonly masterKeys: MasterKeys;
  /** `auth` of the configuration. */
  readonly config: ProvidersConfig & {
    readonly tokenHours: number;
    readonly audience: string;
    readonly checkSeconds: number;
  };
  /** Full names of the services of the contract. */
  readonly serviceNames: readonly string[];
  /** All methods of the contract. */
  readonly methods: readonly RuledMethod[];
  /** Returns what the calls of a method concern. */
  readonly accessOf: ExplainOptions["accessOf"];
  /** Returns a host of the fleet; absent: there are none. */
  readonly findHost?: ExplainOptions["findHost"];
  /** Name of this host. */
  readonly host: string;
  /** Absent: no request comes from a hub. */
  readonly authenticateHub?: AuthenticateOptions["authenticateHub"];
  /** Called with failures of background work. */
  readonly onFailed: (message: string, error: unknown) => void;
}

/** Authentication and accounts: users, sessions, API tokens. */
export interface Auth {
  /** AuthService, LoginService and UserService. */
  readonly registrations: readonly ServiceRegistration[];
  readonly access: readonly AccessRegistration[];
  /** Planners of UserService. */
  readonly planners: readonly PlannerRegistration[];
  readonly authenticate: AuthenticateRequest;
  readonly users: Users;
  readonly apiTokens: ApiTokens;
  /** Starts a session without a password, for the sandbox's banner. @throws InfraError USER_NOT_FOUND */
  beginSession(userName: string): Promise<Session>;
  readonly logOutByProvider: LogOutByProvider;
  /** Writes pending data; the store must stay open until then. */
  close(): Promise<void>;
}

const hourMs = 60 * 60 * 1000;

/**
 * Assembles authentication on an open store, and creates the first signing key.
 * @throws InfraError STORE_UNAVAILABLE; Error when the master key does not decrypt a signing key
 */
export async function createAuth(options: AuthOptions): Promise<Auth> {
  const { store, masterKeys, config, host, onFailed } = options;
  const known = {
    serviceNames: options.serviceNames,
    methodPaths: options.methods.map(({ method }) => methodPathOf(method)),
  };
  const keySeal = createSeal(masterKeys, signingKeyPurpose);
  await ensureSigningKey(store, keySeal);
  const state = await createAuthState({
    store,
    keySeal,
    host,
    onFailed: (error) => onFailed("users and revocations cannot be read", error),
  });
  const tokenUse = createTokenUse(store, (error) =>
    onFailed("the last uses of API tokens cannot be written", error),
  );
  const sessionTokens = createSessionTokens({
    audience: config.audience,
    secretOf: (keyId) => state.signingKey(keyId)?.secret,
  });
  const { refresh } = state;
  const providerLogins = await openProviderLogins({
    store,
    masterKeys,
    config,
    known,
    refreshState: refresh,
    sessionTokens,
    onFailed,
  });
  const callers = createCallers(state, sessionTokens, providerLogins.sessions);
  const guardPassword = createLoginThrottle(store);
  const logins = createLogins({
    store,
    state,
    callers,
    sessionTokens,
    guardPassword,
    providerSessions: providerLogins.sessions,
    lifetimeMs: config.tokenHours * hourMs,
  });
  const users = createUsers({
    store,
    known,
    refresh,
    guardPassword,
    revokeTokens: providerLogins.sessions.revokeTokens,
  });
  const apiTokens = createApiTokens({ store, known, refresh });

  const { methods, accessOf, findHost = () => undefined } = options;
  const explain = createExplainRequest({ users, apiTokens, methods, accessOf, findHost, here: host });

  const administration = createAdministration({
    users,
    apiTokens,
    async rotateSigningKey() {
      const keyId = await rotateSigningKey(store, keySeal);
      await refresh();
      return keyId;
    },
  });

  return {
    registrations: [
      createAuthService(logins),
      providerLogins.registration,
      createUserService({ users, apiTokens, explain }, administration),
    ],
    planners: [plannersOf(UserService, administration)],
    access: authMethodAccess,
    authenticate: createAuthenticate({
      state,
      callers,
      tokenUse,
      authenticateHub: options.authenticateHub ?? (() => anonymous),
    }),
    users,
    apiTokens,
    beginSession: logins.begin,
    logOutByProvider: providerLogins.logOutByProvider,
    async close() {
      await providerLogins.close();
      state.close();
      await tokenUse.close();
    },
  };
}
