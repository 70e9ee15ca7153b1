import { hasReason } from "../host/infra-error.ts";
import type { RuntimeFinding, RuntimeInspection } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { type PodmanInfo, readInfo } from "./info.ts";
import { podmanReasons } from "./reasons.ts";

const patienceMs = 10_000;

/** Collects the Podman findings of `hostplane doctor`. Changes nothing. Never throws. */
export async function inspectPodman(client: PodmanClient, socketPath: string): Promise<RuntimeInspection> {
  try {
    const info = await readInfo(client, AbortSignal.timeout(patienceMs));
    const what = `Podman ${info.version} at ${socketPath}${info.isRootless ? ", rootless" : ""}`;
    return {
      version: info.version,
      findings: [{ ok: true, what }, inspectEvents(info), inspectLogs(info)],
    };
  } catch (error) {
    return { version: undefined, findings: [unreachable(error)] };
  }
}

function unreachable(error: unknown): RuntimeFinding {
  const isDenied = hasReason(error, podmanReasons.PODMAN_DENIED);
  return {
    ok: false,
    what: error instanceof Error ? error.message : String(error),
    fix: isDenied
      ? "give the gateway's user access to the socket (SocketGroup= and SocketMode= in an override of podman.socket), and restart the gateway"
      : "apt-get install podman and systemctl enable --now podman.socket, or set pods.podman.socket",
  };
}

function inspectEvents({ eventLogger }: PodmanInfo): RuntimeFinding {
  return eventLogger === "none"
    ? {
        ok: false,
        what: "Podman records no events, so changes are detected late and their events are lost",
        fix: 'set events_logger = "file" or "journald" in containers.conf',
      }
    : { ok: true, what: `Podman records events (${eventLogger})` };
}

function inspectLogs({ logDriver }: PodmanInfo): RuntimeFinding {
  return logDriver === "none" || logDriver === "passthrough"
    ? {
        ok: false,
        what: `Podman does not record container output (log driver ${logDriver})`,
        fix: 'set log_driver = "k8s-file" or "journald" in containers.conf',
      }
    : { ok: true, what: `Podman records container output (${logDriver})` };
}
