import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { type ListenAddress, parseListenAddress } from "../config/listen-address.ts";
import type { Config, ListenerConfig } from "../config/schema.ts";
import { readCertificate } from "../rpc/listener/certificate.ts";
import type { Finding, Inspector } from "./inspection.ts";
import { messageFromError } from "./output.ts";
import { probeAddress } from "./probe-address.ts";

/** What the gateway itself needs of this host: its data directory, its addresses, its certificates. */
export function createGatewayInspector(config: Config): Inspector {
  return {
    name: "gateway",
    async inspect() {
      const findings = await Promise.all([
        inspectData(config.data),
        ...config.listen.map(inspectAddress),
        ...config.listen.flatMap(({ tls }) => (tls ? [inspectCertificate(tls)] : [])),
      ]);
      return { findings };
    },
  };
}

async function inspectData(data: string): Promise<Finding> {
  const directory = resolve(data);
  const existing = await nearestExisting(directory);
  const isDirectory = (await stat(existing)).isDirectory();
  if (isDirectory && (await isAllowed(existing, constants.W_OK | constants.X_OK))) {
    return { ok: true, what: `data directory ${directory} can be written` };
  }
  return {
    ok: false,
    what: isDirectory ? `data directory ${directory} cannot be written` : `${existing} is not a directory`,
    fix: isDirectory ? `sudo install -d -o "$(id -un)" ${directory}` : "choose another directory: --data DIR",
  };
}

async function nearestExisting(path: string): Promise<string> {
  return (await isAllowed(path, constants.F_OK)) ? path : nearestExisting(dirname(path));
}

function inspectCertificate(tls: NonNullable<ListenerConfig["tls"]>): Finding {
  try {
    readCertificate(tls);
    return {
      ok: true,
      what: `the certificate ${tls.cert} belongs to the key ${tls.key}${"clientCa" in tls ? `, and ${tls.clientCa} holds authorities` : ""}`,
    };
  } catch (error) {
    return {
      ok: false,
      what: messageFromError(error),
      fix: "put the PEM files of one pair there, and the authorities of clients into clientCa",
    };
  }
}

async function inspectAddress(listener: ListenerConfig): Promise<Finding> {
  const { address: text, tls } = listener;
  const address = parseListenAddress(text);
  if (typeof address === "string") {
    return { ok: false, what: `${text}: ${address}` };
  }
  if (address.kind === "unix") {
    const directory = dirname(address.path);
    if (!(await isAllowed(directory, constants.W_OK | constants.X_OK))) {
      return {
        ok: false,
        what: `no socket can be made in ${directory}`,
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
    const what = `${text} is in use by what does not let doctor in, as a running hostplane would not (allowFrom, clientCertificate)`;
    return { ok: true, what };
  }
  const refusal = address.kind === "unix" ? await socketRefusal(address.path) : await bindRefusal(address);
  if (refusal === undefined) {
    return { ok: true, what: `${text} is free` };
  }
  return {
    ok: false,
    what: `${text} cannot be had: ${refusal}`,
    fix: "stop the program that has it (ss -lxtp names it), or choose another address: --listen",
  };
}

/** Whether a gateway may close this listener's connections without an answer. */
function isSelective({ allowFrom, tls }: ListenerConfig): boolean {
  return allowFrom !== undefined || (tls !== undefined && "clientCa" in tls);
}

/** Why the address cannot be bound; bound for a moment to find out. */
function bindRefusal({ host, port }: Extract<ListenAddress, { kind: "tcp" }>): Promise<string | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once("error", (error) => settle(messageFromError(error)));
    server.listen({ host, port }, () => server.close(() => settle(undefined)));
  });
}

/** A socket file that nobody answers is replaced at start; anything else is in the way. */
async function socketRefusal(path: string): Promise<string | undefined> {
  if (!(await isAllowed(path, constants.F_OK))) {
    return undefined;
  }
  if (!(await stat(path)).isSocket()) {
    return "a file that is no socket has this path";
  }
  return (await probeAddress({ kind: "unix", path }, false)) === "refused"
    ? undefined
    : "another process listens there";
}

async function isAllowed(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch {
    return false;
  }
}
