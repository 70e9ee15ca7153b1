import { constants } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { ListenerConfig } from "../../config/gateway-keys.ts";
import { type ListenAddress, parseListenAddress } from "../../config/listen-address.ts";
import { inspectDirectory, isAllowed } from "../../domain/inspect-directory.ts";
import type { Finding, Inspector } from "../../domain/inspection.ts";
import { messageFromError } from "../../domain/message-from-error.ts";
import type { Config } from "../../gateway/config/schema.ts";
import { readCertificate } from "../../rpc/listener/certificates/certificate.ts";
import { probeAddress } from "./probe-address.ts";

/**
 * Checks what the gateway itself needs from this host: its data directory, addresses and certificates.
 * @param runtimeDirectories value of RUNTIME_DIRECTORY: directories that systemd creates at each start, separated by colons
 */
export function createGatewayInspector(config: Config, runtimeDirectories = ""): Inspector {
  const createdAtStart = runtimeDirectories.split(":");
  return {
    name: "gateway",
    async inspect() {
      const findings = await Promise.all([
        inspectDirectory("data directory", config.data, "choose another directory: --data DIR"),
        ...config.listen.map((listener) => inspectAddress(listener, createdAtStart)),
        ...config.listen.flatMap(({ tls }) => (tls ? [inspectCertificate(tls)] : [])),
      ]);
      return { findings };
    },
  };
}

function inspectCertificate(tls: NonNullable<ListenerConfig["tls"]>): Finding {
  try {
    readCertificate(tls);
    return {
      ok: true,
      what: `certificate ${tls.cert} matches key ${tls.key}${"clientCa" in tls ? `, and ${tls.clientCa} contains CA certificates` : ""}`,
    };
  } catch (error) {
    return {
      ok: false,
      what: messageFromError(error),
      fix: "use the PEM files of one key pair, and put the client CA certificates into clientCa",
    };
  }
}

async function inspectAddress(listener: ListenerConfig, createdAtStart: readonly string[]): Promise<Finding> {
  const { address: text, tls } = listener;
  const address = parseListenAddress(text);
  if (typeof address === "string") {
    return { ok: false, what: `${text}: ${address}` };
  }
  if (address.kind === "unix") {
    const directory = dirname(address.path);
    if (createdAtStart.includes(directory) && !(await isAllowed(directory, constants.F_OK))) {
      return { ok: true, what: `${text} is free: systemd creates ${directory} when it starts the gateway` };
    }
    if (!(await isAllowed(directory, constants.W_OK | constants.X_OK))) {
      return {
        ok: false,
        what: `cannot create a socket in ${directory}`,
        fix: `sudo install -d -o "$(id -un)" ${directory}`,
      };
    }
  }
  const isFree = address.kind === "tcp" && address.port === 0;
  const occupant = isFree ? "refused" : await probeAddress(address, tls !== undefined);
  if (occupant === "gateway") {
    return { ok: true, what: `${text} is served by a running hostplane` };
  }
  if (occupant === "closed" && isSelective(listener)) {
    const what = `${text} is in use by a process that rejects doctor, as a running hostplane with allowFrom or client certificates does`;
    return { ok: true, what };
  }
  const refusal = address.kind === "unix" ? await socketRefusal(address.path) : await bindRefusal(address);
  if (refusal === undefined) {
    return { ok: true, what: `${text} is free` };
  }
  return {
    ok: false,
    what: `${text} is not available: ${refusal}`,
    fix: "stop the process that uses it (see ss -lxtp), or choose another address: --listen",
  };
}

/** Reports whether a gateway may close connections to this listener without an answer. */
function isSelective({ allowFrom, tls }: ListenerConfig): boolean {
  return allowFrom !== undefined || (tls !== undefined && "clientCa" in tls);
}

/** Returns why the address cannot be bound; undefined if it can. Binds it briefly to find out. */
function bindRefusal({ host, port }: Extract<ListenAddress, { kind: "tcp" }>): Promise<string | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once("error", (error) => settle(messageFromError(error)));
    server.listen({ host, port }, () => server.close(() => settle(undefined)));
  });
}

/**
 * Returns why a socket cannot be created at the path; undefined if it can. A socket file without a listener is replaced at
 * start; any other file is in the way.
 */
async function socketRefusal(path: string): Promise<string | undefined> {
  if (!(await isAllowed(path, constants.F_OK))) {
    return undefined;
  }
  if (!(await stat(path)).isSocket()) {
    return "a file that is not a socket exists at this path";
  }
  return (await probeAddress({ kind: "unix", path }, false)) === "refused"
    ? undefined
    : "another process listens there";
}
