import { constants } from "node:crypto";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as net from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import type { ListenAddress } from "../../config/listen-address.ts";
import type {
  HttpRequest,
  HttpResponse,
  NodeRequest,
  NodeResponse,
} from "../protocols/http/http-exchange.ts";
import { Http2Exchange } from "../protocols/http/http2-exchange.ts";
import { type AdmissionRules, createAdmission } from "./admission.ts";
import type { Certificate } from "./certificates/certificate.ts";
import { sniffProtocol } from "./first-bytes.ts";
import { createAuthorityRewriter } from "./http2-authority/authority-rewriter.ts";
import { trackHttp2Sessions } from "./http2-sessions.ts";
import { createOpenSockets } from "./open-sockets.ts";
import { firstByteTimeoutMs, headersTimeoutMs, requestTimeoutMs } from "./timeouts.ts";
import { listenOnUnixSocket } from "./unix-socket.ts";
import type { UnknownCallers } from "./unknown-callers/unknown-callers.ts";

export interface ListenerOptions extends AdmissionRules {
  readonly address: ListenAddress;
  /** Permission bits of a unix socket. */
  readonly mode: number;
  /**
   * Certificate and key. If set, the listener only speaks TLS, with HTTP/1.1 and HTTP/2 by ALPN. Its `ca` holds the authorities
   * for `clientCertificate`; certificates that they have not signed, or that have expired, are refused in both modes.
   */
  readonly tls: Certificate | undefined;
  readonly maxConcurrentStreams: number;
  readonly headerBytes: number;
  readonly keepAliveMs: number;
  /** Time limit for the headers of a request and for the HTTP/2 preface; `headersTimeoutMs` if absent. */
  readonly headersMs?: number;
  /** Limits for callers that are not authenticated. A unix socket is protected by its mode instead. */
  readonly unknownCallers?: UnknownCallers | undefined;
  readonly onRequest: (request: NodeRequest, response: NodeResponse) => void;
  /**
   * Receives usual HTTP/2 streams before Node's compatibility API is created for them. If it returns false, the stream goes to
   * `onRequest`.
   */
  readonly onStream?: (exchange: Http2Exchange) => boolean;
}

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

type StreamListener = (
  stream: http2.ServerHttp2Stream,
  headers: http.IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

export function createListener(options: ListenerOptions): Listener {
  const sockets = createOpenSockets();
  const admission = createAdmission(options);
  const onRequest = (request: NodeRequest, response: NodeResponse) => {
    sockets.addRequest(request, response);
    if (!refuses(request, response) && track(request, response)) {
      options.onRequest(request, response);
    }
  };
  const requests = options.unknownCallers?.requests;
  /** A unix socket is protected by its mode. */
  const connections = options.address.kind === "tcp" ? options.unknownCallers?.connections : undefined;
  const headersMs = options.headersMs ?? headersTimeoutMs;
  const http1Timeouts = {
    headersTimeout: headersMs,
    requestTimeout: requestTimeoutMs,
    // Node's default interval of 30 s would let headers take up to 40 s.
    connectionsCheckingInterval: Math.min(headersMs, timeoutCheckMs),
  };
  const servers = options.tls === undefined ? createCleartext() : createTls(options.tls);
  const { server } = servers;
  const sessions = trackHttp2Sessions(servers.http2, options.keepAliveMs, headersMs);
  // Out of file descriptors, or a connection reset while it was accepted: the listener continues.
  server.on("error", () => {});

  /** Refuses a request, or cuts its connection, if it is not admitted. Returns whether it did. */
  function refuses(request: HttpRequest, response: HttpResponse): boolean {
    if (hasLeft(request) || admission.refusesRequest(request)) {
      (request.stream?.session ?? request.socket).destroy();
      return true;
    }
    if (headerBytesOf(request) > options.headerBytes) {
      response.writeHead(431);
      response.end();
      return true;
    }
    return false;
  }

  /** Counts a request as unauthenticated until its caller is known. Returns whether the request is served. */
  function track(request: HttpRequest, response: HttpResponse): boolean {
    const connection = connections?.of(request.socket);
    if (connection?.refusesRequest() === true) {
      // Not while Node is reading the connection.
      setImmediate(() => (request.stream?.session ?? request.socket).destroy());
      return false;
    }
    request.usage = requests?.track(request, response, connection);
    if (connections === undefined) {
      request.usage?.identified();
    }
    return true;
  }

  /**
   * Reports whether the connection was reset after the request. The client's address is gone then, and the request must not be
   * taken for one on a unix socket. Node remembers an address that was read before.
   */
  function hasLeft({ socket }: HttpRequest): boolean {
    return options.address.kind === "tcp" && socket.remoteAddress === undefined;
  }

  function http2Options(): http2.ServerOptions {
    return {
      settings: {
        maxConcurrentStreams: options.maxConcurrentStreams,
        maxHeaderListSize: options.headerBytes,
      },
      // By default Node resets a stream with more than 128 header fields without any message; HTTP/1.1 allows 2,000.
      maxHeaderListPairs: 2000,
      // nghttp2 allows 1,000 resets at once and then 33 per second before it closes the connection. A client that opens and
      // cancels as many streams as it may is not an attack.
      streamResetBurst: 10 * options.maxConcurrentStreams,
      streamResetRate: options.maxConcurrentStreams,
      // A cancelled stream counts until the next turn of the event loop. Node refuses some of 600 streams that are opened and
      // cancelled at once, and by default ends the session after 100 refusals ("The user callback function failed").
      maxSessionRejectedStreams: 10 * options.maxConcurrentStreams,
    };
  }

  function takeRequests(h2: http2.Http2Server | http2.Http2SecureServer): void {
    // The compatibility API has everything that NodeRequest and NodeResponse need.
    h2.on("request", onRequest as never);
    const { onStream } = options;
    // The compatibility API is a "stream" listener, which Node adds with the first "request" listener.
    const [toCompatibilityApi] = h2.listeners("stream") as StreamListener[];
    if (onStream === undefined || toCompatibilityApi === undefined) {
      return;
    }
    h2.off("stream", toCompatibilityApi);
    const listener: StreamListener = (stream, headers, flags, rawHeaders) => {
      // If its client resets a stream, `close` also reports the end.
      stream.on("error", ignore);
      const exchange = new Http2Exchange(stream, headers, rawHeaders);
      // CONNECT and `expect` are handled by the compatibility API.
      const isUsual = exchange.method === "POST" && headers.expect === undefined;
      if (isUsual && (refuses(exchange, exchange) || !track(exchange, exchange) || onStream(exchange))) {
        return;
      }
      exchange.usage?.release();
      toCompatibilityApi(stream, headers, flags, rawHeaders);
    };
    h2.on("stream", listener);
  }

  /** Begins a new connection, now or when it is admitted. The socket is paused until `begin` resumes it. */
  function accept(socket: net.Socket, begin: () => void): void {
    if (admission.refuses(socket)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on("error", ignore);
    if (connections === undefined) {
      begin();
    } else {
      connections.admit(socket, begin);
    }
  }

  function createCleartext() {
    const h1 = http.createServer({ maxHeaderSize: options.headerBytes, ...http1Timeouts }, onRequest);
    // A server that never listens checks no timeouts; this starts the check, and `h1.close()` stops it.
    h1.emit("listening");
    const h2 = http2.createServer(http2Options());
    takeRequests(h2);
    // No delay, as node:http sets for its own connections: an event must not wait for the acknowledgement of the previous one.
    const server = net.createServer({ noDelay: true, pauseOnConnect: true }, (socket) =>
      accept(socket, () => begin(socket)),
    );
    function begin(socket: net.Socket): void {
      sniffProtocol(socket, firstByteTimeoutMs, (protocol) => {
        sockets.setProtocol(socket, protocol);
        if (protocol === "http1") {
          h1.emit("connection", socket);
          // The sniffer has paused the socket, and a parser only resumes a socket that it has paused itself.
          socket.resume();
        } else {
          const isUnix = options.address.kind === "unix";
          const stream: Duplex = isUnix ? createAuthorityRewriter(socket) : socket;
          h2.emit("connection", stream);
        }
      });
      socket.resume();
    }
    return { server, http2: h2, stopTimeouts: () => h1.close(), reload: (_renewed: Certificate) => {} };
  }

  function createTls(certificate: Certificate) {
    if (options.clientCertificate !== undefined && certificate.ca === undefined) {
      throw new TypeError(
        "client certificates need authorities: without them TLS accepts those of any public one",
      );
    }
    const h2 = http2.createSecureServer({
      ...http2Options(),
      ...secureContextFrom(certificate),
      requestCert: options.clientCertificate !== undefined,
      rejectUnauthorized: options.clientCertificate === "required",
      allowHTTP1: true,
      maxHeaderSize: options.headerBytes,
      ...http1Timeouts,
      handshakeTimeout: firstByteTimeoutMs,
    } as http2.SecureServerOptions);
    // As for cleartext: it never listens.
    h2.emit("listening");
    const server = net.createServer({ noDelay: true, pauseOnConnect: true }, (socket) =>
      accept(socket, () => {
        // This socket carries the TLS socket that is added below, so draining must not treat it as silent.
        sockets.setProtocol(socket, "http2");
        connections?.of(socket)?.countHandshake();
        h2.emit("connection", socket);
      }),
    );
    h2.on("secureConnection", (socket) => {
      if (admission.refusesAfterHandshake(socket)) {
        socket.destroy();
        return;
      }
      connections?.passToTls(socket);
      sockets.add(socket);
      sockets.setProtocol(socket, socket.alpnProtocol === "h2" ? "http2" : "http1");
    });
    // A failed handshake, e.g. a cleartext client, or one without a required certificate.
    h2.on("tlsClientError", (_error, socket: TLSSocket) => {
      admission.noteFailedHandshake(socket);
      socket.destroy();
    });
    takeRequests(h2);
    return {
      server,
      http2: h2,
      stopTimeouts: () => h2.close(),
      reload: (renewed: Certificate) => h2.setSecureContext(secureContextFrom(renewed)),
    };
  }

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

/** How often the time limits of HTTP/1.1 connections are checked. */
const timeoutCheckMs = 1000;

function ignore(): void {}

function secureContextFrom({ cert, key, ca }: Certificate): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: "TLSv1.2",
    // A resumed session would not verify its certificate again; each connection has to present it.
    ...(ca === undefined ? {} : { ca, secureOptions: constants.SSL_OP_NO_TICKET }),
  };
}

/**
 * Returns the size of a request's header names and values, in bytes. Node enforces the limit for HTTP/1.1, but for HTTP/2 only
 * after the client has acknowledged it: a first request of five times the limit passes, and a client that never acknowledges it
 * has a limit of 16 MiB.
 */
function headerBytesOf({ rawHeaders }: HttpRequest): number {
  let sizeBytes = 0;
  for (const text of rawHeaders) {
    sizeBytes += text.length;
  }
  return sizeBytes;
}
