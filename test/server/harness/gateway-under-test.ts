import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { t as root, type Test } from "tap";
import type { DemoWorld } from "../../../server/domain/demo-world.ts";
import type { FleetHosts } from "../../../server/fleet/forward/fleet-hosts.ts";
import { type Config, configSchema } from "../../../server/gateway/config/schema.ts";
import type { Gateway } from "../../../server/gateway/gateway.ts";
import { startGateway } from "../../../server/gateway/start-gateway.ts";
import { traceLogFields } from "../../../server/observability/active-span.ts";
import { acceleratorsUnderTest } from "./app-under-test.ts";
import { readContractServices } from "./contract-services.ts";
import { createHostsUnderTest, openLink } from "./hosts-under-test.ts";

/** A gateway for one test, with its log. */
export interface GatewayUnderTest {
  readonly gateway: Gateway;
  /** `http://127.0.0.1:port` of the first listener. */
  readonly url: string;
  /** Every line of the log, as objects. */
  readonly log: readonly Record<string, unknown>[];
}

/** Password of the admin of every gateway under test. */
export const adminPassword = "the admin of a test";

type GatewayStart = Parameters<typeof startGateway>[0];

/** A listener as written in the configuration. */
type ListenerSettings = Readonly<Record<string, unknown>>;

export interface UnderTestOptions {
  /**
   * Require logins as the configuration says. Otherwise a listener without `auth` gives everyone the role operator for all
   * services, for tests of everything after the login.
   */
  readonly hasLogin?: boolean;
  /** Lifetime of a login in hours. May be a fraction, which the configuration does not allow. */
  readonly tokenHours?: number;
  readonly logLevel?: string;
  readonly version?: string;
  /** Start a real gateway although no domain is configured, as a hub without systems is. */
  readonly isReal?: boolean;
  /** Services besides those of the contract. */
  readonly furtherServices?: GatewayStart["furtherServices"];
  /** Makes the gateway the hub of these hosts. */
  readonly fleetHosts?: FleetHosts;
  /** The demo world of the sandbox; by default it is quiet. */
  readonly world?: DemoWorld;
}

/** Whether clients of tests reach their gateway through a hub: `THROUGH_HUB=1 npm run test:foreign`. */
const isThroughHub = process.env.THROUGH_HUB === "1";

/**
 * Starts a gateway on a free loopback port with its own data directory, and closes it with the test. With `THROUGH_HUB=1` its
 * listeners are those of a hub, which forwards every call to it.
 * @param settings keys of the configuration file; the sandbox is used unless a domain is configured
 */
export function startGatewayUnderTest(
  t: Pick<Test, "teardown" | "fail">,
  settings: Record<string, unknown> = {},
  options: UnderTestOptions = {},
): Promise<GatewayUnderTest> {
  return isThroughHub && options.fleetHosts === undefined
    ? startThroughHub(t, settings, options)
    : startGatewayItself(t, settings, options);
}

async function startThroughHub(
  t: Pick<Test, "teardown" | "fail">,
  settings: Record<string, unknown>,
  options: UnderTestOptions,
): Promise<GatewayUnderTest> {
  const { listen = [{ address: "127.0.0.1:0" }], cors, ...ofHost } = settings;
  const host = await startGatewayItself(
    t,
    { ...ofHost, fleet: { agent: { ceiling: { role: "admin" } } } },
    options,
  );
  const hosts = createHostsUnderTest();
  const opened = await openLink(t, "node-1", (connection) => host.gateway.serveHub(connection, "hub"));
  hosts.set("node-1", opened.link);
  const listeners = (listen as readonly ListenerSettings[]).map((each) => ({ ...each, fleetHost: "node-1" }));
  const ofHub = { listen: listeners, ...(cors === undefined ? {} : { cors }) };
  return startGatewayItself(t, ofHub, { ...options, fleetHosts: hosts });
}

async function startGatewayItself(
  t: Pick<Test, "teardown" | "fail">,
  settings: Record<string, unknown>,
  options: UnderTestOptions,
): Promise<GatewayUnderTest> {
  const listen = (settings.listen as readonly ListenerSettings[] | undefined) ?? [{ address: "127.0.0.1:0" }];
  const config: Config = configSchema.parse({
    data: settings.data ?? (await temporaryDirectory(t)),
    ...settings,
    limits: withoutCpuLimit(settings.limits),
    listen: options.hasLogin === true ? listen : await Promise.all(listen.map(withoutLogin)),
  });
  const log: Record<string, unknown>[] = [];
  const logger = pino(
    { level: options.logLevel ?? "debug", mixin: traceLogFields },
    { write: (line: string) => log.push(JSON.parse(line)) },
  );
  const gateway = await startGateway({
    config: { ...config, auth: { ...config.auth, tokenHours: options.tokenHours ?? config.auth.tokenHours } },
    isSandbox:
      options.isReal !== true &&
      [config.volumes, config.hypervisors, config.storage, config.pods].every(
        (domain) => domain === undefined,
      ),
    world: options.world,
    fleetHosts: options.fleetHosts,
    ...(options.furtherServices === undefined ? {} : { furtherServices: options.furtherServices }),
    version: options.version ?? "0.0.0-test",
    logger,
    secrets: { adminPassword },
    ...acceleratorsUnderTest,
    onFatal: (error) => t.fail(error.message),
  });
  t.teardown(() => gateway.close());
  const scheme = config.listen[0]?.tls === undefined ? "http" : "https";
  return { gateway, url: `${scheme}://${gateway.addresses[0]}`, log };
}

/**
 * Returns a function that returns one gateway for all tests of a file, for those that leave it as it is. It is started at the
 * first call, and closed after the file's last test.
 */
export function createSharedGateway(
  ...settings: [settings?: Record<string, unknown>, options?: UnderTestOptions]
): () => Promise<GatewayUnderTest> {
  let started: Promise<GatewayUnderTest> | undefined;
  return () => {
    started ??= startGatewayUnderTest(root, ...settings);
    return started;
  };
}

async function temporaryDirectory(t: Pick<Test, "teardown">): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-data-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function withoutLogin(listener: ListenerSettings): Promise<ListenerSettings> {
  if (listener.auth !== undefined) {
    return listener;
  }
  const services = (await readContractServices()).map(({ typeName }) => typeName);
  return { services, ...listener, auth: "none", role: "operator" };
}

/** Removes the CPU limit, because the cost of calls depends on the machine. */
function withoutCpuLimit(settings: unknown): object {
  const limits = (settings ?? {}) as { readonly caller?: object };
  return { ...limits, caller: { cpuMsPerSecond: 1_000_000, ...limits.caller } };
}
