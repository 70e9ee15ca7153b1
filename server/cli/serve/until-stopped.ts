import type { Logger } from "pino";
import type { Gateway } from "../../gateway/gateway.ts";

const stopSignals = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * A supervisor that signals the whole process group reaches the gateway twice: directly, and through the launcher, which
 * forwards signals. Two signals this close together count as one.
 */
const echoMs = 250;

/**
 * Resolves once SIGTERM or SIGINT has arrived and `gateway` is closed. A second signal ends the process at once, with 130 or
 * 143. SIGHUP reloads certificates.
 * @param onStopping called when the first signal arrives
 */
export function untilStopped(
  gateway: Pick<Gateway, "close" | "reloadCertificates">,
  logger: Logger,
  onStopping: () => void = () => {},
): Promise<void> {
  return new Promise((resolve) => {
    let stoppingSinceMs: number | undefined;

    async function stop(signal: keyof typeof stopSignals): Promise<void> {
      const nowMs = performance.now();
      if (stoppingSinceMs !== undefined) {
        if (nowMs - stoppingSinceMs >= echoMs) {
          process.exit(stopSignals[signal]);
        }
        return;
      }
      stoppingSinceMs = nowMs;
      logger.info({ signal }, "stopping");
      onStopping();
      await gateway.close();
      logger.info("stopped");
      resolve();
    }

    process.on("SIGINT", () => void stop("SIGINT"));
    process.on("SIGTERM", () => void stop("SIGTERM"));
    // The launcher was killed: its supervisor considers the gateway gone and may start another one.
    process.once("disconnect", () => {
      if (stoppingSinceMs === undefined) {
        void stop("SIGTERM");
      }
    });
    process.on("SIGHUP", () => {
      try {
        gateway.reloadCertificates();
        logger.info("certificates reloaded");
      } catch (error) {
        logger.error({ err: error }, "failed to reload certificates; the old ones stay in use");
      }
    });
  });
}
