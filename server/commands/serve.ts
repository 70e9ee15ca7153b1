import type { Logger } from "pino";
import type { Gateway } from "../gateway.ts";
import { bannerLines } from "./banner.ts";
import { type ConfigOptions, loadConfigOrExplain } from "./config-options.ts";
import { createLogger } from "./logger.ts";
import { type ExitCode, messageFromError, type Output } from "./output.ts";

export interface ServeOptions extends ConfigOptions {
  readonly sandbox?: boolean;
}

const stopSignals = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * A supervisor that signals a whole process group reaches the gateway twice: itself, and through the launcher
 * that hands signals on. Two so close together are one.
 */
const echoMs = 250;

/**
 * Serves until SIGTERM or SIGINT, then lets calls under way end; a second one ends the process at once. SIGHUP
 * reads certificates again.
 */
export async function serve(options: ServeOptions, version: string, output: Output): Promise<ExitCode> {
  const { sandbox: isSandbox = false, ...configOptions } = options;
  const loaded = await loadConfigOrExplain(configOptions, output);
  if (loaded === undefined) return 2;
  const { config, file } = loaded;
  if (isSandbox && config.volumes !== undefined) {
    const where = file === undefined ? "the environment or the flags" : file;
    output.err(
      `--sandbox serves nothing real, but volumes are configured (${where}): leave out --sandbox to serve them, or volumes to get the sandbox`,
    );
    return 2;
  }
  if (!isSandbox && config.volumes === undefined) {
    output.err(
      "nothing to serve: no system is configured. For a first look run `hostplane serve --sandbox`; to serve this host's LVM name a file with volumes.deviceClasses by --config (`hostplane config schema` lists every key)",
    );
    return 2;
  }

  const logger = createLogger(config.log, process.stderr);
  const fail = (error: unknown) => {
    logger.fatal({ err: error }, "a fault of the gateway itself");
    process.exit(1);
  };
  process.on("unhandledRejection", fail);
  process.on("uncaughtException", fail);

  let gateway: Gateway;
  try {
    const { startGateway } = await import("../gateway.ts");
    gateway = await startGateway({ config, isSandbox, version, logger });
  } catch (error) {
    output.err(`cannot start: ${messageFromError(error)}`);
    logger.debug({ err: error }, "cannot start");
    return 1;
  }
  const stopped = untilStopped(gateway, logger);
  logger.info({ addresses: gateway.addresses, sandbox: isSandbox, version }, "listening");
  // Whoever asks for JSON reads records by program, and finds the addresses in the one above.
  if (config.log.format !== "json") {
    for (const line of bannerLines({ version, isSandbox, addresses: gateway.addresses })) output.out(line);
  }
  return stopped;
}

function untilStopped(gateway: Gateway, logger: Logger): Promise<ExitCode> {
  return new Promise((resolve) => {
    let stoppingSinceMs: number | undefined;

    async function stop(signal: keyof typeof stopSignals): Promise<void> {
      const nowMs = performance.now();
      if (stoppingSinceMs !== undefined) {
        if (nowMs - stoppingSinceMs >= echoMs) process.exit(stopSignals[signal]);
        return;
      }
      stoppingSinceMs = nowMs;
      logger.info({ signal }, "stopping");
      await gateway.close();
      logger.info("stopped");
      resolve(0);
    }

    process.on("SIGINT", () => void stop("SIGINT"));
    process.on("SIGTERM", () => void stop("SIGTERM"));
    process.on("SIGHUP", () => {
      try {
        gateway.reloadCertificates();
        logger.info("certificates read again");
      } catch (error) {
        logger.error({ err: error }, "certificates stay as they are");
      }
    });
  });
}
