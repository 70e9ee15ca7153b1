import * as http from "node:http";
import * as http2 from "node:http2";
import * as net from "node:net";
import type { Duplex } from "node:stream";
import { firstByteTimeoutMs } from "../call/timeouts.ts";
import type { Certificate } from "./certificates/certificate.ts";
import { sniffProtocol } from "./first-bytes.ts";
import { createAuthorityRewriter } from "./http2-authority/authority-rewriter.ts";
import { http2OptionsOf, type ListeningServer, type ServerParts } from "./server-parts.ts";

/** Creates a server for HTTP/1.1 and HTTP/2 on the same cleartext port. */
export function createCleartextServer(parts: ServerParts): ListeningServer {
  const { options, sockets, http1Timeouts, onRequest, accept } = parts;
  const h1 = http.createServer({ maxHeaderSize: options.headerBytes, ...http1Timeouts }, onRequest);
  // A server that never listens checks no timeouts; this starts the check, and `h1.close()` stops it.
  h1.emit("listening");
  const h2 = http2.createServer(http2OptionsOf(options));
  parts.serveHttp2(h2);
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
