import { randomBytes } from "node:crypto";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { LoginService } from "../../../../gen/hostplane/v1/login_pb.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { anonymous } from "../../../rpc/call/caller.ts";
import { registerService, type ServiceRegistration } from "../../../rpc/call/service-handlers.ts";
import { authReasons } from "../reasons.ts";
import type { Session } from "../sessions/logins.ts";
import { sessionCookie } from "../sessions/session-cookie.ts";
import type { SessionTokens } from "../sessions/session-token.ts";
import { createAddressTurns } from "./address-turns.ts";
import { assertLoginPage, clearedLoginCookie, loginCookie, readLoginCookie } from "./login-cookie.ts";
import { type PendingLogins, pendingLoginMs } from "./pending-login.ts";
import type { Provider } from "./provider.ts";
import type { ConfirmedLogin, LoginChecks, ProviderConnection } from "./provider-connection.ts";
import type { ProviderSessions } from "./provider-sessions.ts";

/** Options of `createLoginService`. */
export interface LoginServiceOptions {
  readonly providers: ReadonlyMap<string, Provider>;
  /** URL at which browsers reach the gateway; undefined without providers. */
  readonly publicUrl: string | undefined;
  readonly pendingLogins: PendingLogins;
  readonly sessions: Pick<ProviderSessions, "open">;
  readonly sessionTokens: Pick<SessionTokens, "sign">;
}

/** An authorization response has a state, a code, an issuer and perhaps the state of the provider's session. */
const maxParametersLength = 8192;

/** Creates hostplane.v1.LoginService: logins by identity providers. */
export function createLoginService(options: LoginServiceOptions): ServiceRegistration {
  const { providers, publicUrl = "", pendingLogins, sessions, sessionTokens } = options;
  const turns = createAddressTurns();

  /** Works with a provider for a caller who is not known yet. */
  function ask<T>(
    call: Call,
    provider: Provider,
    task: (connection: ProviderConnection) => Promise<T>,
  ): Promise<T> {
    return turns.run(call.peer.address, () => provider.use(task), call.signal);
  }

  function providerNamed(name: string): Provider {
    const provider = providers.get(name);
    if (provider === undefined) {
      throw new InfraError(
        authReasons.PROVIDER_NOT_FOUND,
        `identity provider ${JSON.stringify(name.slice(0, 64))} not found (known: ${[...providers.keys()].join(", ") || "none"})`,
      );
    }
    return provider;
  }

  async function begin(
    call: Call,
    provider: Provider,
    login: ConfirmedLogin,
    credential: "cookie" | "session",
  ): Promise<Session> {
    const { userName, ...claims } = await sessions.open(provider, login);
    const { accountId, expiresAtMs } = claims;
    // For the log and the audit log; the call's permissions do not change.
    call.identify({ ...anonymous, actor: `user/${userName}`, accountId, credential });
    return { token: await sessionTokens.sign(claims), accountId, expiresAtMs };
  }

  return registerService(LoginService, {
    async listProviders() {
      return {
        providers: [...providers.values()].map(({ name, title }) => ({ name, title })),
        publicUrl,
      };
    },

    async beginLogin({ provider: name }, call) {
      const provider = providerNamed(name);
      assertLoginPage(call, publicUrl);
      const checks: LoginChecks = { state: randomText(), nonce: randomText(), codeVerifier: randomText() };
      const url = await ask(call, provider, (connection) => connection.authorizationUrl(checks));
      const sealed = pendingLogins.sealBrowser(name, checks);
      call.setHeader("set-cookie", loginCookie(sealed, pendingLoginMs, publicUrl));
      return { authorizationUrl: url.href };
    },

    async finishLogin({ provider: name, parameters }, call) {
      const provider = providerNamed(name);
      assertLoginPage(call, publicUrl);
      if (parameters.length > maxParametersLength) {
        throw invalidField("parameters", `must have at most ${maxParametersLength} characters`);
      }
      const cookie = readLoginCookie(call, publicUrl);
      const checks = pendingLogins.openBrowser(cookie, name, new URLSearchParams(parameters).get("state"));
      const login = await ask(call, provider, (connection) => connection.redeem(parameters, checks));
      const { token, accountId, expiresAtMs } = await begin(call, provider, login, "cookie");
      call.appendHeader("set-cookie", clearedLoginCookie(publicUrl));
      call.appendHeader("set-cookie", sessionCookie(token, expiresAtMs - Date.now(), call));
      return { expiresAt: timestampFromMs(expiresAtMs), accountId };
    },

    async beginDeviceLogin({ provider: name }, call) {
      const provider = providerNamed(name);
      const login = await ask(call, provider, (connection) => connection.beginDevice());
      if (login === undefined) {
        throw new InfraError(
          authReasons.LOGIN_NOT_CHECKABLE,
          `the identity provider ${name} has no device logins (RFC 8628): allow them there, or use the dashboard or a password`,
        );
      }
      const expiresAtMs = Date.now() + login.expiresInMs;
      return {
        verificationUri: login.verificationUri,
        verificationUriComplete: login.verificationUriComplete ?? "",
        userCode: login.userCode,
        loginHandle: pendingLogins.sealDevice(name, login.deviceCode, expiresAtMs),
        interval: durationFromMs(login.intervalMs),
        expiresAt: timestampFromMs(expiresAtMs),
      };
    },

    async finishDeviceLogin({ loginHandle }, call) {
      const { provider: name, deviceCode } = pendingLogins.openDevice(loginHandle);
      const provider = providerNamed(name);
      const login = await ask(call, provider, (connection) => connection.pollDevice(deviceCode));
      const { token, accountId, expiresAtMs } = await begin(call, provider, login, "session");
      return { token, expiresAt: timestampFromMs(expiresAtMs), accountId };
    },
  });
}

/** Returns 256 random bits, which are also a valid code verifier (RFC 7636, 4.1). */
function randomText(): string {
  return randomBytes(32).toString("base64url");
}
