import type { Auth } from "../domains/auth/auth.ts";
import type { LoginLinks } from "../domains/auth/sessions/login-links.ts";
import { sessionCookie } from "../domains/auth/sessions/session-cookie.ts";
import type { FleetHosts } from "../fleet/forward/fleet-hosts.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Tracing } from "../observability/tracing.ts";
import { createOpenCalls } from "../rpc/call/open-calls.ts";
import { createPageAccess } from "../rpc/protocols/http/page-access.ts";
import { type App, type AppOptions, createApp } from "./app.ts";
import { createCallChain } from "./call-chain.ts";
import type { Engine } from "./engine.ts";
import { exportKeys } from "./export-keys.ts";
import type { GatewayOptions, OpenGatewayOptions } from "./gateway-options.ts";
import { methodRuleOf } from "./method-rules.ts";
import type { Services } from "./services.ts";

/** What the handlers of requests are created from. */
export interface AppParts {
  readonly options: OpenGatewayOptions;
  readonly auth: Auth;
  readonly loginLinks: LoginLinks;
  readonly engine: Pick<Engine, "instance">;
  readonly services: Services;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  /** The hosts of the fleet; undefined: the gateway is not a hub. */
  readonly fleetHosts: FleetHosts | undefined;
  readonly shutdownSignal: AbortSignal;
}

/** Creates the handlers of all requests, around the chain of interceptors. `opened` closes both. */
export async function openApp(
  { options, auth, loginLinks, engine, services, metrics, tracing, fleetHosts, shutdownSignal }: AppParts,
  opened: AsyncDisposableStack,
): Promise<App> {
  const { config, data, isSandbox, version, logger, furtherServices, accelerators } = options;
  const chain = createCallChain({
    data,
    authenticate: auth.authenticate,
    accessOf: services.accessOf,
    observe: { metrics: metrics.rpc, tracing },
    config,
    changeInterceptors: services.changeInterceptors,
    instance: { ...engine.instance, isSandbox },
    logger,
  });
  opened.defer(() => chain.close());
  const { backends, storeBackend, isPlannable } = services;
  const app = await createApp({
    registrations: [...services.registrations, ...(furtherServices?.registrations ?? [])],
    ...optionsOfFurtherServices(options),
    backends,
    storeBackend,
    isPlannable,
    isSandbox,
    version,
    chain,
    forwarding: fleetHosts && {
      hosts: fleetHosts,
      hub: { name: engine.instance.host, hosts: fleetHosts },
      interceptorsFor: chain.forwardedInterceptorsFor,
    },
    metrics,
    mayReadMetrics: createPageAccess(auth.authenticate),
    // The user who starts a sandbox gets a link that logs in; a real gateway has none.
    redeemLoginLink: isSandbox ? redeemLoginLink(loginLinks) : undefined,
    logOutByProvider: config.auth.providers.length > 0 ? auth.logOutByProvider : undefined,
    backupStore: async (file) => {
      const { sizeBytes, keyChecks } = await data.store.backup(file);
      const words = keyChecks.length === 1 ? "fingerprint" : "fingerprints";
      return { sizeBytes, masterKey: `${data.masterKeys.source} (${words} ${keyChecks.join(", ")})` };
    },
    keyChanges: data.keyChanges,
    exportKeys: (keyFile) => exportKeys(data, keyFile),
    logger,
    corsOrigins: config.cors.origins,
    maxMessageBytes: config.limits.maxMessageBytes,
    maxDeadlineMs: config.limits.maxDeadlineMs,
    keepAliveMs: config.keepAliveMs,
    openCalls: createOpenCalls(shutdownSignal),
    ...(accelerators === undefined ? {} : { accelerators }),
    shutdownSignal,
  });
  opened.defer(() => app.close());
  return app;
}

/** Options of further services besides their registrations. All other services use the rules of the method table. */
function optionsOfFurtherServices({ furtherServices }: GatewayOptions): Partial<AppOptions> {
  if (furtherServices === undefined) {
    return {};
  }
  const { registrations, ruleOf, ...rest } = furtherServices;
  const further = new Set(registrations.map(({ service }) => service));
  return { ...rest, ruleOf: (method) => (further.has(method.parent) ? ruleOf : methodRuleOf)(method) };
}

/** Returns the function that exchanges the code of a login link for a session cookie. */
function redeemLoginLink(links: LoginLinks) {
  return async (code: string, isTls: boolean): Promise<string | undefined> => {
    const session = await links.redeem(code);
    return session && sessionCookie(session.token, session.expiresAtMs - Date.now(), { isTls });
  };
}
