import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import * as net from "node:net";
import { dirname, join, resolve } from "node:path";
import type { GatewayConfig, ListenerConfig } from "../../config/gateway-keys.ts";
import { parseListenAddress } from "../../config/listen-address.ts";
import { explainListenFailure } from "./explain-listen-failure.ts";

/**
 * Checks that each address can be bound, so that a start that cannot succeed ends before it creates a database. Binds TCP
 * addresses and releases them; for sockets it checks the directory and the file.
 * @throws Error that names the address and the fix
 */
export async function assertAddressesFree({
  listen,
  data,
}: Pick<GatewayConfig, "data"> & {
  readonly listen: readonly Pick<ListenerConfig, "address">[];
}): Promise<void> {
  for (const { address: text } of listen) {
    await assertFree(text, data).catch((error: unknown) => {
      throw explainListenFailure(error, text);
    });
  }
}

async function assertFree(text: string, data: string): Promise<void> {
  const address = parseListenAddress(text);
  if (typeof address === "string") {
    return;
  }
  if (address.kind === "unix") {
    await assertSocketFree(address.path, resolve(data));
  } else if (address.port !== 0) {
    // A port chosen by the system is always free.
    await bind(address.host, address.port);
  }
}

function bind(host: string, port: number): Promise<void> {
  return new Promise((resolveBound, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(port, host, () => server.close(() => resolveBound()));
  });
}

/** Creates and removes nothing. A socket left by a killed gateway counts as free: it is replaced when the socket is bound. */
async function assertSocketFree(path: string, data: string): Promise<void> {
  const directory = dirname(path);
  try {
    // With the slash, a file is refused with ENOTDIR.
    await access(`${directory}/`, constants.W_OK | constants.X_OK);
  } catch (error) {
    // The start creates the data directory, and the sandbox's directory in it.
    if (codeOf(error) === "ENOENT" && [data, join(data, "sandbox")].includes(directory)) {
      return;
    }
    throw error;
  }
  let isSocket: boolean;
  try {
    isSocket = (await lstat(path)).isSocket();
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      return;
    }
    throw error;
  }
  if (!isSocket || (await isAnswered(path))) {
    throw Object.assign(new Error(path), { code: isSocket ? "EADDRINUSE" : "EEXIST" });
  }
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const probe = net.connect(path);
    probe.once("connect", () => {
      probe.destroy();
      settle(true);
    });
    probe.once("error", () => settle(false));
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
