import { request } from "node:http";
import type { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import { parseListenAddress } from "../../config/listen-address.ts";
import { hubServerName } from "../authority/issue-certificate.ts";
import { agentIdHeader, connectedAlreadyStatus, linkPath, linkProtocol } from "../links/link-protocol.ts";
import { versionHeader } from "../links/link-version.ts";

/** What an agent shows to a hub, and what it expects of the hub. */
export interface AgentIdentity {
  /** The certificate of the agent and its issuer, in PEM. */
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** The issuer of certificates of hubs, in PEM. */
  readonly hubAuthorityPem: string;
}

const connectTimeoutMs = 5000;

/** The cause of the error for a hub that has a connection of this agent by another of its addresses. */
export const connectedAlready = Symbol("connected by another address");

/**
 * Connects to a hub, and asks it to use the connection for its requests.
 * @param version of this gateway
 * @param agentId the same for all addresses of all hubs
 * @returns the connection, on which the hub is the HTTP/2 client
 * @throws Error whose message explains the failure
 */
export async function connectToHub(
  address: string,
  identity: AgentIdentity,
  version: string,
  signal: AbortSignal,
  agentId?: string,
): Promise<Duplex> {
  const socket = await connectTls(address, tlsOptionsOf(identity), signal);
  const own = { [versionHeader]: version, ...(agentId === undefined ? {} : { [agentIdHeader]: agentId }) };
  try {
    return await upgrade(socket, own, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Returns the TLS options of an agent: its certificate, and hubs of its own fleet only. */
export function tlsOptionsOf({ certificatePem, privateKeyPem, hubAuthorityPem }: AgentIdentity) {
  return {
    cert: certificatePem,
    key: privateKeyPem,
    ca: hubAuthorityPem,
    // The issuer itself is trusted; its root is not needed.
    allowPartialTrustChain: true,
    servername: hubServerName,
    minVersion: "TLSv1.3",
  } as const;
}

/** Opens a TLS connection. @throws Error whose message explains the failure */
async function connectTls(
  address: string,
  options: ReturnType<typeof tlsOptionsOf>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { host, port } = hostAndPort(address);
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({ host, port, ...options }, () => resolve(socket));
  const fail = (error: unknown) => {
    socket.destroy();
    reject(new Error(explainTlsFailure(error), { cause: error }));
  };
  const onAbort = () => fail(signal.reason);
  const timer = setTimeout(() => fail(new Error("no answer within five seconds")), connectTimeoutMs);
  socket.once("error", fail);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const connected = await promise;
    socket.off("error", fail);
    socket.on("error", () => {});
    return connected;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function upgrade(
  socket: TLSSocket,
  own: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const asking = request({
    path: linkPath,
    headers: {
      host: hubServerName,
      connection: "Upgrade",
      upgrade: linkProtocol,
      ...own,
    },
    createConnection: () => socket,
    timeout: connectTimeoutMs,
    signal,
  });
  asking.once("upgrade", (_response, connection, head) => {
    if (head.length > 0) {
      connection.unshift(head);
    }
    resolve(connection);
  });
  asking.once("response", async (response) => {
    if (response.statusCode === connectedAlreadyStatus) {
      reject(new Error("the hub is connected by another of its addresses", { cause: connectedAlready }));
      return;
    }
    const chunks = await response
      .take(16)
      .toArray()
      .catch(() => []);
    const text = Buffer.concat(chunks).toString("utf8", 0, 500).trim();
    reject(new Error(`the hub refused the connection: ${text === "" ? response.statusCode : text}`));
  });
  asking.once("timeout", () => asking.destroy(new Error("no answer within five seconds")));
  asking.once("error", reject);
  asking.end();
  return promise;
}

/** Splits `host:port` or `[ipv6]:port`. @throws Error for any other text */
export function hostAndPort(address: string): { readonly host: string; readonly port: number } {
  const parsed = parseListenAddress(address);
  if (typeof parsed === "string" || parsed.kind === "unix") {
    throw new Error(`${address}: expected host:port or [ipv6]:port`);
  }
  return parsed;
}

/** Codes of OpenSSL for certificates whose period does not include now. */
const clockCodes: readonly unknown[] = ["CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED"];

/** Says why a TLS connection to a hub failed; a wrong clock is the usual reason for a certificate that is not valid yet. */
export function explainTlsFailure(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (clockCodes.includes(code)) {
    return `${words}; the clock of this host says ${new Date().toISOString()}: compare it with the hub's`;
  }
  return words;
}
