import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { pipeline } from "node:stream";
import type { Test } from "tap";

/** An HTTP proxy of the test that records what passes through it. */
export interface CountingProxy {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** `host:port` of each forwarded plain request. */
  readonly forwarded: readonly string[];
  /** `host:port` of each tunnel (CONNECT). */
  readonly tunnelled: readonly string[];
  /** The received Proxy-Authorization headers, without repeats. */
  readonly credentials: ReadonlySet<string>;
}

/** Starts a proxy that resolves every name to this host's loopback; it runs until the test ends. */
export async function startCountingProxy(t: Test): Promise<CountingProxy> {
  const forwarded: string[] = [];
  const tunnelled: string[] = [];
  const credentials = new Set<string>();
  const sockets = new Set<Socket>();

  function note(list: string[], host: string, message: IncomingMessage): void {
    list.push(host);
    const given = message.headers["proxy-authorization"];
    if (given !== undefined) {
      credentials.add(given);
    }
  }

  function forward(message: IncomingMessage, response: ServerResponse): void {
    const url = new URL(message.url ?? "");
    note(forwarded, url.host, message);
    const { "proxy-authorization": _, ...headers } = message.headers;
    const onward = request({
      host: "127.0.0.1",
      port: url.port,
      method: message.method,
      path: `${url.pathname}${url.search}`,
      headers,
    });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => {});
    });
    onward.on("error", () => response.destroy());
    pipeline(message, onward, () => {});
  }

  const server = createServer(forward);
  server.on("connect", (message, client: Socket, head) => {
    note(tunnelled, message.url ?? "", message);
    const onward = connect(Number(message.url?.split(":").at(-1)), "127.0.0.1");
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        onward.destroy();
      });
    }
    onward.on("connect", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.write(head);
      client.pipe(onward).pipe(client);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(async () => {
    const isClosed = once(server, "close");
    server.close();
    server.closeAllConnections();
    for (const socket of sockets) {
      socket.destroy();
    }
    await isClosed;
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, forwarded, tunnelled, credentials };
}
