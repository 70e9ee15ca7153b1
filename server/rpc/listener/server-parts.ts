import type { Http2SecureServer, Http2Server, ServerOptions } from "node:http2";
import type { Server, Socket } from "node:net";
import type { NodeRequest, NodeResponse } from "../protocols/http/http-exchange.ts";
import type { Certificate } from "./certificates/certificate.ts";
import type { ListenerOptions } from "./listener-options.ts";
import type { OpenSockets } from "./open-sockets.ts";
import type { UnknownConnections } from "./unknown-callers/unknown-connections.ts";

/** What a listener's servers are built from. */
export interface ServerParts {
  readonly options: ListenerOptions;
  readonly sockets: OpenSockets;
  /** Limits for connections of unknown callers; undefined on a unix socket, which is protected by its mode. */
  readonly connections: UnknownConnections | undefined;
  readonly http1Timeouts: {
    readonly headersTimeout: number;
    readonly requestTimeout: number;
    readonly connectionsCheckingInterval: number;
  };
  readonly onRequest: (request: NodeRequest, response: NodeResponse) => void;
  /** Answers the requests of an HTTP/2 server. */
  serveHttp2(server: Http2Server | Http2SecureServer): void;
  /** Begins a new connection, now or when it is admitted. The socket is paused until `begin` resumes it. */
  accept(socket: Socket, begin: () => void): void;
}

/** The server that listens, and its HTTP/2 server, whose sessions have to be ended. */
export interface ListeningServer {
  readonly server: Server;
  readonly http2: Http2Server | Http2SecureServer;
  /** Stops checking the time limits of HTTP/1.1. */
  stopTimeouts(): void;
  /** Sets the certificate for new connections. */
  reload(certificate: Certificate): void;
}

/** Returns the limits of an HTTP/2 server. */
export function http2OptionsOf(
  options: Pick<ListenerOptions, "maxConcurrentStreams" | "headerBytes">,
): ServerOptions {
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
