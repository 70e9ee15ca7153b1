import { headersTimeoutMs, requestTimeoutMs } from "../call/timeouts.ts";
import { createAdmission } from "./admission.ts";
import type { Certificate } from "./certificates/certificate.ts";
import { createCleartextServer } from "./cleartext-server.ts";
import { trackHttp2Sessions } from "./http2-sessions.ts";
import type { ListenerOptions } from "./listener-options.ts";
import { createOpenSockets } from "./open-sockets.ts";
import { createRequestChecks } from "./request-checks.ts";
import { serveHttp2 } from "./serve-http2.ts";
import type { ServerParts } from "./server-parts.ts";
import { createTlsServer } from "./tls-server.ts";
import { listenOnUnixSocket } from "./unix-socket.ts";

/** A listener on one address, for HTTP/1.1 and HTTP/2. */
export interface Listener {
  /** @throws Error when the address cannot be bound */
  listen(): Promise<void>;
  /** Returns the address as clients write it, with the port that the system chose if 0 was configured. */
  address(): string;
  /** Sets the certificate for new connections; open ones keep theirs. */
  reloadCertificate(certificate: Certificate): void;
  /**
   * Stops accepting, waits for running requests, and cuts the remaining ones after `graceMs`. Its owner has to end open calls
   * first, or they keep their connections for the whole grace period.
   */
  close(graceMs: number): Promise<void>;
}

/** How often the time limits of HTTP/1.1 connections are checked. */
const timeoutCheckMs = 1000;

/** Creates the servers for HTTP/1.1 and HTTP/2, which accept nothing before `listen`. */
export function createListener(options: ListenerOptions): Listener {
  const sockets = createOpenSockets();
  const admission = createAdmission(options);
  const admits = createRequestChecks(options, admission);
  const connections = options.address.kind === "tcp" ? options.unknownCallers?.connections : undefined;
  const headersMs = options.headersMs ?? headersTimeoutMs;
  const parts: ServerParts = {
    options,
    sockets,
    connections,
    http1Timeouts: {
      headersTimeout: headersMs,
      requestTimeout: requestTimeoutMs,
      // Node's default interval of 30 s would let headers take up to 40 s.
      connectionsCheckingInterval: Math.min(headersMs, timeoutCheckMs),
    },
    onRequest(request, response) {
      sockets.addRequest(request, response);
      if (admits(request, response)) {
        options.onRequest(request, response);
      }
    },
    serveHttp2: (server) => serveHttp2(server, admits, parts.onRequest, options.onStream),
    accept(socket, begin) {
      if (admission.refuses(socket)) {
        socket.destroy();
        return;
      }
      sockets.add(socket);
      socket.on("error", () => {});
      if (connections === undefined) {
        begin();
      } else {
        connections.admit(socket, begin);
      }
    },
  };
  const servers =
    options.tls === undefined ? createCleartextServer(parts) : createTlsServer(parts, admission, options.tls);
  const { server } = servers;
  const sessions = trackHttp2Sessions(servers.http2, options.keepAliveMs, headersMs);
  // Out of file descriptors, or a connection reset while it was accepted: the listener continues.
  server.on("error", () => {});

  return {
    async listen() {
      const { address } = options;
      if (address.kind === "unix") {
        await listenOnUnixSocket(server, address.path, options.mode);
        return;
      }
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(address.port, address.host, () => {
          server.off("error", reject);
          resolve();
        });
      });
    },
    address() {
      if (options.address.kind === "unix") {
        return `unix:${options.address.path}`;
      }
      const bound = server.address();
      const port = typeof bound === "object" && bound !== null ? bound.port : options.address.port;
      const host = options.address.host.includes(":") ? `[${options.address.host}]` : options.address.host;
      return `${host}:${port}`;
    },
    reloadCertificate: (certificate) => servers.reload(certificate),
    async close(graceMs) {
      const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      sockets.drain();
      sessions.close();
      await sockets.waitUntilEmpty(graceMs);
      sessions.destroy();
      sockets.destroy();
      servers.stopTimeouts();
      await isClosed;
    },
  };
}
