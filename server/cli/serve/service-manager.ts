import { sendToNotifySocket } from "../../../adapters/host/notify-socket.ts";
import type { Readiness } from "../../web/readiness.ts";

/** How often readiness is queried until it holds, in ms. */
const readinessPollMs = 500;

/** Reports the state of the gateway to systemd, or to another service manager with the same protocol (sd_notify(3)). */
export interface ServiceManager {
  /**
   * Reports that the gateway is ready once it is, and from then on at half the watchdog's time that the event loop runs. If
   * readiness is lost later, only the status text says so: a restart brings back no database.
   */
  reportWhenReady(readiness: () => Promise<Readiness>): void;
  /** Reports that the gateway stops. The watchdog is still served, because stopping waits for changes. */
  reportStopping(): void;
}

export interface ServiceManagerOptions {
  /** Environment with NOTIFY_SOCKET, and WATCHDOG_USEC and WATCHDOG_PID if there is a watchdog. */
  readonly env: NodeJS.ProcessEnv;
  readonly onFailed: (error: unknown) => void;
  /** For tests; absent: sends to the address of NOTIFY_SOCKET. */
  readonly send?: (address: string, message: string) => void;
}

const statusTexts: Readonly<Record<Readiness, string>> = {
  ready: "Serving",
  stopping: "Stopping: waiting for calls and changes in progress",
  storeUnavailable: "Not ready: the store does not answer or cannot be written",
};

/** Creates the connection to the service manager; without NOTIFY_SOCKET it does nothing. */
export function createServiceManager(options: ServiceManagerOptions): ServiceManager {
  const { env, onFailed, send = sendToNotifySocket } = options;
  const address = env.NOTIFY_SOCKET;
  if (!address) {
    return { reportWhenReady() {}, reportStopping() {} };
  }
  let isStopping = false;
  let lastStatus = "";

  function notify(...lines: readonly string[]): void {
    try {
      send(address ?? "", lines.join("\n"));
    } catch (error) {
      onFailed(error);
    }
  }

  async function keepAlive(readiness: () => Promise<Readiness>): Promise<void> {
    notify("WATCHDOG=1");
    const status = statusTexts[await readiness()];
    if (status !== lastStatus && !isStopping) {
      lastStatus = status;
      notify(`STATUS=${status}`);
    }
  }

  async function untilReady(readiness: () => Promise<Readiness>): Promise<void> {
    const state = await readiness();
    if (isStopping) {
      return;
    }
    lastStatus = statusTexts[state];
    if (state !== "ready") {
      notify(`STATUS=${lastStatus}`);
      setTimeout(() => untilReady(readiness).catch(onFailed), readinessPollMs).unref();
      return;
    }
    notify("READY=1", `STATUS=${lastStatus}`);
    const periodMs = watchdogPeriodMs(env);
    if (periodMs !== undefined) {
      // A blocked event loop runs no timers, so that systemd notices it.
      setInterval(() => keepAlive(readiness).catch(onFailed), periodMs).unref();
    }
  }

  return {
    reportWhenReady: (readiness) => void untilReady(readiness).catch(onFailed),
    reportStopping() {
      isStopping = true;
      notify("STOPPING=1", `STATUS=${statusTexts.stopping}`);
    },
  };
}

/**
 * Returns half the time after which the service manager considers this process hung, in ms; undefined if it does not watch this
 * process (sd_watchdog_enabled(3)).
 */
function watchdogPeriodMs({
  WATCHDOG_USEC: usec = "",
  WATCHDOG_PID: pid,
}: NodeJS.ProcessEnv): number | undefined {
  const isForThis = pid === undefined || Number(pid) === process.pid;
  return isForThis && /^[1-9]\d*$/.test(usec) ? Math.max(1, Math.floor(Number(usec) / 2000)) : undefined;
}
