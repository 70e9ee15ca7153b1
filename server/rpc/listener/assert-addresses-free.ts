import * as net from "node:net";
import { parseListenAddress } from "../../config/listen-address.ts";
import type { ListenerConfig } from "../../config/schema.ts";
import { explainListenFailure } from "./explain-listen-failure.ts";

/**
 * Binds each TCP address and lets go of it, so that a start that cannot succeed ends before it creates a database.
 * @throws Error that names the address and what to do
 */
export async function assertAddressesFree(
  listeners: readonly Pick<ListenerConfig, "address">[],
): Promise<void> {
  for (const { address: text } of listeners) {
    const address = parseListenAddress(text);
    // A port that the system chooses is free, and a socket file is checked when it is bound.
    if (typeof address !== "string" && address.kind === "tcp" && address.port !== 0) {
      await bind(address.host, address.port).catch((error: unknown) => {
        throw explainListenFailure(error, text);
      });
    }
  }
}

function bind(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
