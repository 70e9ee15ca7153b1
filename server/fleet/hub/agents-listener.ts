import type { GatewayConfig } from "../../config/gateway-keys.ts";
import type { ListenAddress } from "../../config/listen-address.ts";
import type { ListenerFacts } from "../../rpc/call/listener-facts.ts";
import { createListener, type Listener } from "../../rpc/listener/listener.ts";
import type { NodeRequest, NodeResponse } from "../../rpc/protocols/http/http-exchange.ts";
import type { CertifiedKey, FleetAuthority } from "../authority/authority.ts";
import { type AcceptLinkOptions, acceptLink } from "./accept-link.ts";

export interface AgentsListenerOptions extends AcceptLinkOptions {
  readonly address: ListenAddress;
  readonly authority: FleetAuthority;
  readonly certificate: CertifiedKey;
  readonly config: Pick<GatewayConfig, "limits" | "keepAliveMs">;
  /** Answers the calls of EnrollmentService. */
  readonly onRequest: (request: NodeRequest, response: NodeResponse, listener: ListenerFacts) => void;
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
    clientCertificate: "reported",
    isAddressAllowed: undefined,
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
