import { join, relative, resolve } from "node:path";
import type { GatewayConfig } from "../../config/gateway-keys.ts";
import type { ListenerFacts } from "../call/listener-facts.ts";
import type { NodeRequest, NodeResponse } from "../protocols/http/http-exchange.ts";
import type { Http2Exchange } from "../protocols/http/http2-exchange.ts";
import { createListener, type Listener } from "./listener.ts";

export interface AdminListenerOptions {
  /** Path of the socket; `adminSocketOf` returns the usual one. */
  readonly path: string;
  readonly config: Pick<GatewayConfig, "limits" | "keepAliveMs">;
  /** Receives each request, with the listener's facts. */
  readonly onRequest: (request: NodeRequest, response: NodeResponse, listener: ListenerFacts) => void;
  /** Receives each HTTP/2 stream first; returns whether it answers it. */
  readonly onStream: (exchange: Http2Exchange, listener: ListenerFacts) => boolean;
}

/** Returns the path of the admin socket for a data directory. */
export function adminSocketOf(directory: string): string {
  return join(directory, "admin.sock");
}

/**
 * Creates the listener for users who have access to the gateway's data anyway: the socket's mode 0600 and its directory admit
 * only the gateway's own user and root, and every caller is an admin. The socket of a killed gateway is replaced; one that is
 * answered is not.
 * @throws Error when the path is too long for a socket
 */
export function createAdminListener({ path, config, onRequest, onStream }: AdminListenerOptions): Listener {
  const facts: ListenerFacts = {
    address: `unix:${path}`,
    services: undefined,
    access: "adminSocket",
    isTls: false,
    isLocal: true,
    errorDetails: true,
    lvmd: "backups",
  };
  return createListener({
    address: { kind: "unix", path: shortSocketPath(path) },
    mode: 0o600,
    tls: undefined,
    clientCertificate: undefined,
    isAddressAllowed: undefined,
    onConnectionRefused: () => {},
    maxConcurrentStreams: config.limits.maxConcurrentStreams,
    headerBytes: config.limits.headerBytes,
    keepAliveMs: config.keepAliveMs,
    onRequest: (request, response) => onRequest(request, response, facts),
    onStream: (exchange) => onStream(exchange, facts),
  });
}

/** `sun_path` without its final NUL: 108 bytes on Linux (unix(7)), 104 on macOS. */
const maxSocketPathBytes = process.platform === "linux" ? 107 : 103;

/**
 * Returns the shorter of a socket's absolute path and its path relative to the working directory, because the system limits the
 * length.
 * @throws Error that names the limit when both are too long
 */
export function shortSocketPath(path: string): string {
  const absolute = resolve(path);
  const fromHere = relative(process.cwd(), absolute);
  const shorter = fromHere.length < absolute.length ? fromHere : absolute;
  const bytes = Buffer.byteLength(shorter);
  if (bytes > maxSocketPathBytes) {
    throw new Error(
      `${absolute}: a socket path has at most ${maxSocketPathBytes} bytes, and this one has ${bytes}; choose a shorter data directory (--data)`,
    );
  }
  return shorter;
}
