import { constants } from "node:crypto";
import * as http2 from "node:http2";
import * as net from "node:net";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import { firstByteTimeoutMs } from "../call/timeouts.ts";
import type { NodeRequest } from "../protocols/http/http-exchange.ts";
import type { Admission } from "./admission.ts";
import type { Certificate } from "./certificates/certificate.ts";
import { http2OptionsOf, type ListeningServer, type ServerParts } from "./server-parts.ts";

/**
 * Creates a server for HTTP/1.1 and HTTP/2 over TLS, by ALPN.
 * @throws Error when the certificate cannot be used
 */
export function createTlsServer(
  parts: ServerParts,
  admission: Admission,
  certificate: Certificate,
): ListeningServer {
  const { options, sockets, connections, http1Timeouts, accept } = parts;
  if (options.clientCertificate !== undefined && certificate.ca === undefined) {
    throw new TypeError(
      "client certificates need authorities: without them TLS accepts those of any public one",
    );
  }
  const h2 = http2.createSecureServer({
    ...http2OptionsOf(options),
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
  const { onUpgrade } = options;
  if (onUpgrade !== undefined) {
    h2.on("upgrade", (request: NodeRequest, socket: TLSSocket, head: Buffer) => {
      socket.on("error", () => {});
      onUpgrade(request, socket, head);
    });
  }
  // A failed handshake, e.g. a cleartext client, or one without a required certificate.
  h2.on("tlsClientError", (_error, socket: TLSSocket) => {
    admission.noteFailedHandshake(socket);
    socket.destroy();
  });
  parts.serveHttp2(h2);
  return {
    server,
    http2: h2,
    stopTimeouts: () => h2.close(),
    reload: (renewed: Certificate) => h2.setSecureContext(secureContextFrom(renewed)),
  };
}

function secureContextFrom({ cert, key, ca }: Certificate): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: "TLSv1.2",
    // A resumed session would not verify its certificate again; each connection has to present it.
    ...(ca === undefined ? {} : { ca, secureOptions: constants.SSL_OP_NO_TICKET }),
  };
}
