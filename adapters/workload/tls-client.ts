import { checkServerIdentity } from "node:tls";
import { buildConnector, Pool } from "undici";
import { InfraError } from "../host/infra-error.ts";
import { errorFromCall, notUnderstood } from "./errors.ts";
import { assertHost, urlHostOf } from "./names.ts";
import { workloadReasons } from "./reasons.ts";

/** Actual destination of a connection. */
export interface DialTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * Maps a host and port to the actual destination; undefined for no change. If it throws, the connection fails with that
 * error.
 */
export type Dial = (host: string, port: number) => DialTarget | undefined | Promise<DialTarget | undefined>;

export interface TlsClientOptions {
  readonly host: string;
  readonly port: number;
  readonly caCertificatePem: string;
  readonly clientCertificatePem: string;
  readonly clientKeyPem: string;
  readonly dial: Dial | undefined;
  /** Name of the server for messages, e.g. `Kubernetes at 10.20.0.9:6443`. */
  readonly who: string;
}

export interface TlsRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly contentType?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The request for messages, e.g. `cordon node1`. */
  readonly what: string;
}

export interface TlsAnswer {
  readonly status: number;
  readonly text: string;
}

export interface TlsClient {
  /**
   * Sends a request, and retries it once on a new connection when the connection is lost, since it may have been to a
   * server that is gone: all requests may be repeated.
   * @throws InfraError WORKLOAD_UNAVAILABLE, WORKLOAD_DENIED, WORKLOAD_FAILED (too long)
   */
  send(request: TlsRequest, end: AbortSignal): Promise<TlsAnswer>;
  close(): Promise<void>;
}

type CallbackArgs = Parameters<buildConnector.Callback>;

const maxBodyBytes = 256 * 1024 * 1024;
const connectTimeoutMs = 3_000;

/**
 * Creates a client of one server, with mutual TLS: the server's certificate must have its name, and we present ours.
 * Proxy settings of the environment are ignored.
 */
export function createTlsClient(options: TlsClientOptions): TlsClient {
  const { host, port, dial, who } = options;
  assertHost(host, "host");
  const connectTls = buildConnector({
    ca: options.caCertificatePem,
    cert: options.clientCertificatePem,
    key: options.clientKeyPem,
    timeout: connectTimeoutMs,
    allowH2: false,
    // The next connection may reach another server, since the address can move.
    maxCachedSessions: 0,
    // Checked against the host, whatever address was dialled.
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  });
  // The server's alert about our certificate, which undici (8.12.4) reports only as a lost connection: with TLS 1.3 it
  // arrives after the connection is established.
  let alert: Error | undefined;
  const noteAlert = (error: Error & { readonly code?: string }) => {
    alert = /^ERR_SSL_.*ALERT/.test(error.code ?? "") ? error : alert;
  };
  const newPool = () =>
    new Pool(`https://${urlHostOf(host)}:${port}`, {
      connections: 8,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      async connect(connectOptions, callback) {
        try {
          const target = await dial?.(host, port);
          const at = target === undefined ? {} : { hostname: target.host, port: String(target.port) };
          const hostname = connectOptions.hostname.replace(/^\[|\]$/g, "");
          connectTls({ ...connectOptions, hostname, ...at }, (...[error, socket]: CallbackArgs) => {
            socket?.once("error", noteAlert);
            callback(...([error, socket] as CallbackArgs));
          });
        } catch (error) {
          callback(error instanceof Error ? error : new Error("it cannot be reached"), null);
        }
      },
    });
  const pool = newPool();

  async function textOf(body: AsyncIterable<Buffer>, what: string): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBodyBytes) {
        throw notUnderstood({ what, who }, `it is longer than ${maxBodyBytes} bytes`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  async function attempt(by: Pool, request: TlsRequest, end: AbortSignal): Promise<TlsAnswer> {
    const { method, path, body, contentType = "application/json", what } = request;
    const { statusCode, body: answer } = await by.request({
      method,
      path,
      headers: { accept: "application/json", ...(body !== undefined && { "content-type": contentType }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: end,
    });
    const text = await textOf(answer, what);
    alert = undefined;
    return { status: statusCode, text };
  }

  async function attemptAfresh(request: TlsRequest, end: AbortSignal): Promise<TlsAnswer> {
    const fresh = newPool();
    try {
      return await attempt(fresh, request, end);
    } finally {
      await fresh.destroy();
    }
  }

  return {
    async send(request, end) {
      try {
        return await attempt(pool, request, end).catch((error: unknown) => {
          if (isConnectionLost(error) && alert === undefined) {
            return attemptAfresh(request, end);
          }
          throw error;
        });
      } catch (error) {
        throw errorFromCall(isConnectionLost(error) ? (alert ?? error) : error, { who });
      }
    },
    async close() {
      await pool.destroy(
        new InfraError(workloadReasons.WORKLOAD_UNAVAILABLE, `The client of ${who} is closed`),
      );
    },
  };
}

function isConnectionLost(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}
