import type { Logger } from "pino";
import type { Gateway } from "../../gateway/gateway.ts";

const stopSignals = { SIGINT: 130, SIGTERM: 143 } as const;

/** On Ctrl-C, a gateway that npm runs gets the terminal's signal and npm's: two this close together count as one. */
const echoMs = 250;

/** Where a signal comes from: to this process, or to its launcher, which sends it on as a message. */
type SignalSource = "process" | "launcher";

/**
 * Resolves once SIGTERM or SIGINT has arrived and `gateway` is closed. A second signal ends the process at once, with 130 or
 * 143. A signal to the process group of the gateway and its launcher (`bin/hostplane.js`) is one signal. SIGHUP reloads
 * certificates.
 * @param onStopping called when the first signal arrives
 */
export function untilStopped(
  gateway: Pick<Gateway, "close" | "reloadCertificates">,
  logger: Logger,
  onStopping: () => void = () => {},
): Promise<void> {
  return new Promise((resolve) => {
    const signalledAtMs = new Map<SignalSource, number>();

    async function stop(signal: keyof typeof stopSignals, source: SignalSource): Promise<void> {
      const nowMs = performance.now();
      const isStopping = signalledAtMs.size > 0;
      const firstAtMs = signalledAtMs.get(source) ?? nowMs;
      signalledAtMs.set(source, firstAtMs);
      if (nowMs - firstAtMs >= echoMs) {
        process.exit(stopSignals[signal]);
      }
      if (isStopping) {
        return;
      }
      logger.info({ signal }, "stopping");
      onStopping();
      await gateway.close();
      logger.info("stopped");
      resolve();
    }

    function reload(): void {
      try {
        gateway.reloadCertificates();
        logger.info("certificates reloaded");
      } catch (error) {
        logger.error({ err: error }, "failed to reload certificates; the old ones stay in use");
      }
    }

    process.on("SIGINT", () => void stop("SIGINT", "process"));
    process.on("SIGTERM", () => void stop("SIGTERM", "process"));
    process.on("SIGHUP", reload);
    process.on("message", (signal) => {
      if (signal === "SIGHUP") {
        reload();
      } else if (signal === "SIGINT" || signal === "SIGTERM") {
        void stop(signal, "launcher");
      }
    });
    // The launcher was killed: its supervisor considers the gateway gone and may start another one.
    process.once("disconnect", () => {
      if (signalledAtMs.size === 0) {
        void stop("SIGTERM", "launcher");
      }
    });
    // Asks the launcher for messages.
    process.send?.("ready");
  });
}
