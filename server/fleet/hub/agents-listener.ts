import type { TLSSocket } from "node:tls";
import type { GatewayConfig } from "../../config/gateway-keys.ts";
import type { ListenAddress } from "../../config/listen-address.ts";
import type { ListenerFacts } from "../../rpc/call/listener-facts.ts";
import { createListener, type Listener } from "../../rpc/listener/listener.ts";
import type { UnknownCallers } from "../../rpc/listener/unknown-callers/unknown-callers.ts";
import { certificateStateOf } from "../../rpc/protocols/http/client-certificate.ts";
import type { NodeRequest, NodeResponse } from "../../rpc/protocols/http/http-exchange.ts";
import type { CertifiedKey, FleetAuthority } from "../authority/authority.ts";
import { type CertifiedHost, hostIdPrefix } from "../authority/issue-certificate.ts";
import { linkPath, linkProtocol } from "../links/link-protocol.ts";
import type { OpenLinks } from "./host-links.ts";

export interface AgentsListenerOptions {
  readonly address: ListenAddress;
  readonly authority: FleetAuthority;
  readonly certificate: CertifiedKey;
  readonly config: Pick<GatewayConfig, "limits" | "keepAliveMs">;
  readonly unknownCallers: UnknownCallers;
  readonly links: OpenLinks;
  /** Reports whether the fleet has the host. */
  readonly isHost: (host: CertifiedHost) => Promise<boolean>;
  /** Answers the calls of EnrollmentService. */
  readonly onRequest: (request: NodeRequest, response: NodeResponse, listener: ListenerFacts) => void;
  readonly log: { info(message: string): void; warn(message: string): void };
}

const enrollmentService = "hostplane.v1.EnrollmentService";

/**
 * Creates the listener for agents: TLS with the fleet's own certificates. An agent without a certificate may only enroll. One
 * with a certificate upgrades its connection, and then serves the hub on it.
 */
export function createAgentsListener(options: AgentsListenerOptions): Listener {
  const { address, config, unknownCallers, onRequest } = options;
  const facts: ListenerFacts = {
    address: "agents",
    services: new Set([enrollmentService]),
    access: "agents",
    isTls: true,
    isLocal: false,
    errorDetails: true,
    lvmd: "backups",
  };
  return createListener({
    address,
    mode: 0,
    tls: tlsCertificate(options.authority, options.certificate),
    clientCertificate: "optional",
    isAddressAllowed: undefined,
    onConnectionRefused: (from, why) => options.log.warn(`an agent at ${from} was refused: ${why}`),
    maxConcurrentStreams: config.limits.maxConcurrentStreams,
    headerBytes: config.limits.headerBytes,
    keepAliveMs: config.keepAliveMs,
    unknownCallers,
    onRequest(request, response) {
      if (request.url?.startsWith(`/${enrollmentService}/`) === true) {
        onRequest(request, response, facts);
      } else {
        response.writeHead(404).end();
      }
    },
    onUpgrade: (request, connection, head) => void acceptLink(request, connection, head, options),
  });
}

/** Returns the certificate of a hub with its chain up to the root, and the issuer of agents. */
export function tlsCertificate({ root, hubIssuer, agentIssuer }: FleetAuthority, own: CertifiedKey) {
  return {
    cert: Buffer.from(own.certificatePem + hubIssuer.certificatePem + root.certificatePem),
    key: Buffer.from(own.privateKeyPem),
    // Node's TLS servers cannot trust an issuer without its root. Certificates of hubs, which the root has issued as well, are
    // refused by their usage: they are for servers only.
    ca: Buffer.from(agentIssuer.certificatePem + root.certificatePem),
  };
}

async function acceptLink(
  request: NodeRequest,
  connection: TLSSocket,
  head: Buffer,
  { links, isHost, unknownCallers, log }: AgentsListenerOptions,
): Promise<void> {
  const state = certificateStateOf(request);
  const host = hostOfCertificate(state.kind === "verified" ? state.certificate : undefined);
  const refusal = refusalOf(request, host, host !== undefined && (await isHost(host)));
  if (host === undefined || refusal !== undefined) {
    refuse(connection, refusal ?? "");
    return;
  }
  unknownCallers.connections.of(connection)?.identified();
  const isAdded = await links.add(host, async () => {
    await switchProtocols(connection, head);
    return connection;
  });
  if (!isAdded) {
    const why = `host ${host.name} is connected already: two agents have the same name and certificate`;
    log.warn(`an agent at ${connection.remoteAddress} was refused: ${why}`);
    refuse(connection, why);
  }
}

/** Resolves once the answer is written: Node aborts if an HTTP/2 session takes over a socket during a write (26.10). */
function switchProtocols(connection: TLSSocket, head: Buffer): Promise<void> {
  if (head.length > 0) {
    connection.unshift(head);
  }
  const answer = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${linkProtocol}\r\n\r\n`;
  return new Promise((resolve) => void connection.write(answer, () => resolve()));
}

function refusalOf(
  request: NodeRequest,
  host: CertifiedHost | undefined,
  isMember: boolean,
): string | undefined {
  if (request.url !== linkPath || request.headers.upgrade !== linkProtocol) {
    return `this address speaks ${linkProtocol} at ${linkPath}`;
  }
  if (host === undefined) {
    return "an agent needs the certificate that the fleet has issued to it";
  }
  return isMember ? undefined : `host ${host.name} is not a member of this fleet: it was removed`;
}

/** Returns the host of a connection's certificate; undefined without a valid one. */
export function hostOfCertificate(
  certificate: { readonly names: readonly string[] } | undefined,
): CertifiedHost | undefined {
  const valueAfter = (prefix: string) =>
    certificate?.names.find((name) => name.startsWith(prefix))?.slice(prefix.length);
  const name = valueAfter("DNS:");
  const id = valueAfter(`URI:${hostIdPrefix}`);
  return name === undefined || id === undefined ? undefined : { name, id };
}

function refuse(connection: TLSSocket, why: string): void {
  const text = `${why}\n`;
  connection.end(
    `HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
