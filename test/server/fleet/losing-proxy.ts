import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Test } from "tap";
import { hostAndPort } from "../../../server/fleet/agent/connect-to-hub.ts";
import { until } from "../harness/until.ts";

/** A proxy of TCP between a host and its hub. */
export interface LosingProxy {
  /** `host:port`. */
  readonly address: string;
  /** How many connections were opened. */
  connections(): number;
}

/**
 * Opens a proxy that completes the TLS handshake of its first connections, and then withholds whatever the hub sends. It closes
 * them once the hub has done what was asked.
 * @param lossy number of these connections
 */
export async function openLosingProxy(
  t: Test,
  hub: string,
  lossy: number,
  isDone: () => Promise<boolean>,
): Promise<LosingProxy> {
  let count = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    count += 1;
    const isLossy = count <= lossy;
    const upstream = connect(hostAndPort(hub));
    let chunksOfClient = 0;
    client.on("data", (chunk) => {
      chunksOfClient += 1;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      // The second chunk of a client ends the handshake.
      if (!isLossy || chunksOfClient < 2) {
        client.write(chunk);
      }
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => other.destroy());
    }
    if (isLossy) {
      until(isDone).then(
        () => client.destroy(),
        () => {},
      );
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, connections: () => count };
}
