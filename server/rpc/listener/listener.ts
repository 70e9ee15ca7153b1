import { constants } from "node:crypto";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as net from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import type { ListenAddress } from "../../config/listen-address.ts";
import type { HttpRequest, HttpResponse } from "../http-exchange.ts";
import { createAuthorityRewriter } from "../http2-authority/authority-rewriter.ts";
import { Http2Exchange } from "../http2-exchange.ts";
import type { NodeRequest, NodeResponse } from "../node-adapter.ts";
import { firstByteTimeoutMs, headersTimeoutMs, requestTimeoutMs } from "../timeouts.ts";
import { type AdmissionRules, createAdmission } from "./admission.ts";
import type { Certificate } from "./certificate.ts";
import { sniffProtocol } from "./first-bytes.ts";
import { trackHttp2Sessions } from "./http2-sessions.ts";
import { createOpenSockets } from "./open-sockets.ts";
import { listenOnUnixSocket } from "./unix-socket.ts";
import type { UnknownCallers } from "./unknown-callers.ts";

export interface ListenerOptions extends AdmissionRules {
  readonly address: ListenAddress;
  /** Permission bits of a unix socket. */
  readonly mode: number;
  /**
   * Certificate and key: the listener then speaks TLS only, with HTTP/1.1 and HTTP/2 by ALPN. The authorities are
   * those of `clientCertificate`; a certificate that they have not signed, or that has expired, is let in by neither.
   */
  readonly tls: Certificate | undefined;
  readonly maxConcurrentStreams: number;
  readonly headerBytes: number;
  readonly keepAliveMs: number;
  /** How long the headers of a request may take, and the preface of HTTP/2; `headersTimeoutMs` if absent. */
  readonly headersMs?: number;
  /** Limits callers who are not authenticated; on a unix socket its mode does. */
  readonly unknownCallers?: UnknownCallers | undefined;
  readonly onRequest: (request: NodeRequest, response: NodeResponse) => void;
  /**
   * Gets a stream of HTTP/2 before Node's compatibility API is made for it, unless it is unusual; one for which this
   * returns false then goes to `onRequest`.
   */
  readonly onStream?: (exchange: Http2Exchange) => boolean;
}

/** One address that speaks HTTP/1.1 and HTTP/2. */
export interface Listener {
  /** @throws Error when the address cannot be had */
  listen(): Promise<void>;
  /** The address as clients write it, with the port the system chose when 0 was asked. */
  address(): string;
  /** New connections get the new certificate; open ones keep theirs. */
  reloadCertificate(certificate: Certificate): void;
  /**
   * Accepts no more, lets what runs come to its end, and cuts what is left after `graceMs`. The owner ends
   * open calls first, or they keep their connections for the whole grace.
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
    if (!refuses(request, response) && hold(request, response)) {
      options.onRequest(request, response);
    }
  };
  const requests = options.unknownCallers?.requests;
  /** A unix socket's mode says who may open it. */
  const connections = options.address.kind === "tcp" ? options.unknownCallers?.connections : undefined;
  const headersMs = options.headersMs ?? headersTimeoutMs;
  const http1Timeouts = {
    headersTimeout: headersMs,
    requestTimeout: requestTimeoutMs,
    // Node compares every 30 s by default, so that headers lived for up to 40.
    connectionsCheckingInterval: Math.min(headersMs, timeoutCheckMs),
  };
  const servers = options.tls === undefined ? createCleartext() : createTls(options.tls);
  const { server } = servers;
  const sessions = trackHttp2Sessions(servers.http2, options.keepAliveMs, headersMs);
  // Out of file descriptors, or a connection reset while it was accepted: the listener goes on.
  server.on("error", () => {});

  /** Answers a request that is not let in, or cuts its connection. */
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

  /** Counts a request for its caller until that is known. Returns whether the request is served. */
  function hold(request: HttpRequest, response: HttpResponse): boolean {
    const connection = connections?.of(request.socket);
    if (connection?.refusesRequest() === true) {
      // Not while Node reads the connection.
      setImmediate(() => (request.stream?.session ?? request.socket).destroy());
      return false;
    }
    request.hold = requests?.hold(request, response, connection);
    if (connections === undefined) {
      request.hold?.identified();
    }
    return true;
  }

  /**
   * Whether the connection was reset behind the request. The client's address is gone then, and it must not pass for one
   * at a unix socket. Node remembers an address that it was asked for.
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
      // Node resets a stream with more than 128 header fields without a word; HTTP/1.1 takes 2,000 of them.
      maxHeaderListPairs: 2000,
      // nghttp2 would take 1,000 resets at once and then 33 a second before it closes the connection; a client
      // that opens and cancels as many streams as it may is no attack.
      streamResetBurst: 10 * options.maxConcurrentStreams,
      streamResetRate: options.maxConcurrentStreams,
      // A stream that is cancelled still counts until the event loop turns: of 600 opened and cancelled at one go
      // Node refuses some, and by default ends the session after 100 ("The user callback function failed").
      maxSessionRejectedStreams: 10 * options.maxConcurrentStreams,
    };
  }

  function takeRequests(h2: http2.Http2Server | http2.Http2SecureServer): void {
    // The compatibility API promises what NodeRequest and NodeResponse ask for.
    h2.on("request", onRequest as never);
    const { onStream } = options;
    // It is a listener of streams, which Node adds with the first one of requests.
    const [toCompatibilityApi] = h2.listeners("stream") as StreamListener[];
    if (onStream === undefined || toCompatibilityApi === undefined) {
      return;
    }
    h2.off("stream", toCompatibilityApi);
    const listener: StreamListener = (stream, headers, flags, rawHeaders) => {
      // A stream that its client resets has its end told by `close` as well.
      stream.on("error", ignore);
      const exchange = new Http2Exchange(stream, headers, rawHeaders);
      // CONNECT and `expect` are for the compatibility API to answer.
      const isUsual = exchange.method === "POST" && headers.expect === undefined;
      if (isUsual && (refuses(exchange, exchange) || !hold(exchange, exchange) || onStream(exchange))) {
        return;
      }
      exchange.hold?.release();
      toCompatibilityApi(stream, headers, flags, rawHeaders);
    };
    h2.on("stream", listener);
  }

  /** Begins a new connection, now or when it is its turn. It is paused, and `begin` resumes it. */
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
    // A server that never listens checks no timeouts; this starts it, `h1.close()` stops it.
    h1.emit("listening");
    const h2 = http2.createServer(http2Options());
    takeRequests(h2);
    // As node:http has it for its own connections: an event is not to wait until the one before has been acknowledged.
    const server = net.createServer({ noDelay: true, pauseOnConnect: true }, (socket) =>
      accept(socket, () => begin(socket)),
    );
    function begin(socket: net.Socket): void {
      sniffProtocol(socket, firstByteTimeoutMs, (protocol) => {
        sockets.setProtocol(socket, protocol);
        if (protocol === "http1") {
          h1.emit("connection", socket);
          // The sniffer has paused it, and a parser does not resume what it did not pause.
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
      throw new TypeError("without authorities of its own, TLS would take clients of any public one");
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
        // It lies under a TLS socket that is added below: draining must not take it for a silent one.
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
    // A handshake that failed, e.g. a client that speaks cleartext, or one without the certificate it needs.
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

/** How often connections of HTTP/1.1 are compared with their time limits. */
const timeoutCheckMs = 1000;

function ignore(): void {}

function secureContextFrom({ cert, key, ca }: Certificate): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: "TLSv1.2",
    // A resumed session would bring its certificate along unlooked at: each connection is to show it anew.
    ...(ca === undefined ? {} : { ca, secureOptions: constants.SSL_OP_NO_TICKET }),
  };
}

/**
 * Names and values of a request's headers, in bytes. Node itself holds HTTP/1.1 to the limit, but HTTP/2 only once
 * the client has acknowledged it: its first request passed with five times as much, and one that acknowledges
 * nothing is held to 16 MiB.
 */
function headerBytesOf({ rawHeaders }: HttpRequest): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, 0);
}
