import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { DemoWorld } from "../../domain/demo-world.ts";
import { messageFromError } from "../../domain/message-from-error.ts";
import { adminPasswordFile } from "../../domains/auth/admin-password-file.ts";
import type { FirstAdmin } from "../../domains/auth/first-admin.ts";
import { systemDomains } from "../../domains/domains.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { dataDirectoryOf } from "../../gateway/open-data.ts";
import { startGateway } from "../../gateway/start-gateway.ts";
import { type ConfigOptions, loadConfigOrExplain } from "../config/config-options.ts";
import type { ExitCode, Output } from "../table/output.ts";
import { type BannerAdmin, bannerLines } from "./banner.ts";
import { gatewaySecrets } from "./gateway-secrets.ts";
import { createLogger } from "./logger.ts";
import { createServiceManager } from "./service-manager.ts";
import { untilStopped } from "./until-stopped.ts";
import { demoWorldFrom, type WorldOptions } from "./world-options.ts";

export interface ServeOptions extends ConfigOptions, WorldOptions {}

/**
 * Heap growth, in percent of the live heap, after which V8 runs a full garbage collection. With 5,000 open streams the
 * default was 57: 395 MB resident instead of 341 MB. Set only after the start, which would otherwise take 10 % more CPU time.
 */
const heapGrowingPercent = 10;

/**
 * Serves until SIGTERM or SIGINT, then waits for calls in progress to finish; a second signal ends the process at once.
 * SIGHUP reloads certificates.
 */
export async function serve(options: ServeOptions, version: string, output: Output): Promise<ExitCode> {
  const { sandbox: isSandbox = false, sandboxQuiet, sandboxSeed, sandboxSize, ...configOptions } = options;
  let world: DemoWorld | undefined;
  try {
    world = demoWorldFrom(options);
  } catch (error) {
    output.err(messageFromError(error));
    return 2;
  }
  const loaded = await loadConfigOrExplain(configOptions, output);
  if (loaded === undefined) {
    return 2;
  }
  const { config, file } = loaded;
  const names = systemDomains.map(({ name }) => name);
  const configured = names.find((name) => config[name] !== undefined);
  if (isSandbox && configured !== undefined) {
    const where = file === undefined ? "the environment or the flags" : file;
    output.err(
      `--sandbox serves only simulated systems, but ${configured} ${configured === "storage" ? "is" : "are"} configured (${where}): remove --sandbox to serve the real system, or remove ${configured} to use the sandbox`,
    );
    return 2;
  }
  if (!isSandbox && configured === undefined && config.fleet.hub === undefined) {
    output.err(
      `nothing to serve: no system is configured. To try hostplane run \`hostplane serve --sandbox\`. To serve real systems pass --config FILE with at least one of ${names.join(", ")}, or fleet.hub for a hub; for LVM set volumes.deviceClasses (\`hostplane config schema\` lists every key)`,
    );
    return 2;
  }

  const logger = createLogger(config.log, process.stderr);
  const fail = (error: unknown) => {
    logger.fatal({ err: error }, "internal error");
    process.exit(1);
  };
  process.on("unhandledRejection", fail);
  process.on("uncaughtException", fail);

  let gateway: Gateway;
  try {
    const secrets = gatewaySecrets(process.env);
    gateway = await startGateway({ config, isSandbox, world, version, logger, secrets, onFatal: fail });
  } catch (error) {
    output.err(`cannot start: ${messageFromError(error)}`);
    logger.debug({ err: error }, "cannot start");
    return 1;
  }
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`);
  const serviceManager = createServiceManager({
    env: process.env,
    onFailed: (err) => logger.warn({ err }, "the service manager could not be notified"),
  });
  const stopped = untilStopped(gateway, logger, serviceManager.reportStopping);
  serviceManager.reportWhenReady(gateway.readiness);
  logger.info({ addresses: gateway.addresses, sandbox: isSandbox, version }, "listening");
  const passwordFile = adminPasswordFile(resolve(dataDirectoryOf(config, isSandbox)));
  const admin = gateway.firstAdmin && bannerAdmin(gateway.firstAdmin, passwordFile, isSandbox);
  if (gateway.firstAdmin?.generatedPassword !== undefined) {
    logger.warn({ file: passwordFile }, "created the first admin; the password is in this file");
  }
  // With JSON logs the output is meant for programs, and the record above contains the addresses.
  if (config.log.format !== "json") {
    const listeners = config.listen.map(({ address, tls, services }, at) => ({
      address: gateway.addresses[at] ?? address,
      isTls: tls !== undefined,
      services,
    }));
    const token = await gateway.sandboxToken();
    const loginPath = await gateway.sandboxLoginPath();
    const isHub = config.fleet.hub !== undefined;
    for (const line of bannerLines({ version, isSandbox, isHub, listeners, admin, token, loginPath })) {
      output.out(line);
    }
  }
  await stopped;
  return 0;
}

/** Returns how the banner shows a generated password: a sandbox shows its text, a real gateway its file. */
function bannerAdmin(
  { name, generatedPassword }: FirstAdmin,
  passwordFile: string,
  isSandbox: boolean,
): BannerAdmin {
  if (generatedPassword === undefined) {
    return { name, password: { kind: "given" } };
  }
  return {
    name,
    password: isSandbox ? { kind: "shown", text: generatedPassword } : { kind: "file", path: passwordFile },
  };
}
