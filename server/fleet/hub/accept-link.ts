import { STATUS_CODES } from "node:http";
import type { TLSSocket } from "node:tls";
import type { UnknownCallers } from "../../rpc/listener/unknown-callers/unknown-callers.ts";
import { type CertificateState, certificateStateOf } from "../../rpc/protocols/http/client-certificate.ts";
import type { NodeRequest } from "../../rpc/protocols/http/http-exchange.ts";
import { type CertifiedHost, hostIdPrefix } from "../authority/issue-certificate.ts";
import { agentIdHeader, connectedAlreadyStatus, linkPath, linkProtocol } from "../links/link-protocol.ts";
import { versionHeader, versionRefusal } from "../links/link-version.ts";
import type { OpenLinks } from "./host-links.ts";
import type { HostProblems } from "./host-problems.ts";

export interface AcceptLinkOptions {
  /** Version of this hub. */
  readonly version: string;
  readonly unknownCallers: UnknownCallers;
  readonly links: OpenLinks;
  readonly problems: HostProblems;
  /** Reports whether the fleet has the host. */
  readonly isHost: (host: CertifiedHost) => Promise<boolean>;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** Takes over the connection of an agent that asks for it. The agent gets the reason for a refusal as text. */
export async function acceptLink(
  request: NodeRequest,
  connection: TLSSocket,
  head: Buffer,
  { version, links, isHost, unknownCallers, problems, log }: AcceptLinkOptions,
): Promise<void> {
  if (request.url !== linkPath || request.headers.upgrade !== linkProtocol) {
    refuse(connection, `this address speaks ${linkProtocol} at ${linkPath}`);
    return;
  }
  const state = certificateStateOf(request);
  const host = hostOfCertificate(state.kind === "verified" ? state.certificate : undefined);
  if (host === undefined) {
    const why = certificateProblem(state);
    if (state.kind !== "none") {
      log.warn(`an agent at ${connection.remoteAddress} was refused: ${why}`);
    }
    refuse(connection, why);
    return;
  }
  if (!(await isHost(host))) {
    refuse(connection, `host ${host.name} is not a member of this fleet: it was removed`);
    return;
  }
  unknownCallers.connections.of(connection)?.identified();
  const misfit = versionRefusal(version, request.headers[versionHeader]?.toString());
  if (misfit !== undefined) {
    problems.note(host.name, misfit);
    refuse(connection, misfit);
    return;
  }
  const agentId = request.headers[agentIdHeader]?.toString();
  const begin = async () => {
    await switchProtocols(connection, head);
    return connection;
  };
  const holder = await links.add(host, begin, agentId);
  if (holder === "taken over") {
    problems.solved(host.name);
  } else if (holder === "same agent") {
    refuse(connection, "connected already, by another address of this hub", connectedAlreadyStatus);
  } else {
    const why = `host ${host.name} is connected already: two agents have the same name and certificate`;
    problems.note(host.name, `${why}; the second one is at ${connection.remoteAddress}`);
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

/** Says why a certificate is not one of a host. OpenSSL's code is the reason of a refused one. */
function certificateProblem(state: CertificateState): string {
  switch (state.kind === "refused" ? state.why : state.kind) {
    case "none":
      return "an agent needs the certificate that the fleet has issued to it";
    case "CERT_HAS_EXPIRED":
      return `the certificate of the host has expired; the clock of the hub says ${new Date().toISOString()}. If that is right, remove the host on the hub, and let it leave and join again`;
    case "CERT_NOT_YET_VALID":
      return `the certificate of the host is not valid yet; the clock of the hub says ${new Date().toISOString()}: compare it with the host's`;
    case "INVALID_PURPOSE":
    case "verified":
      return "the certificate is not one of a host: a hub's certificate cannot be used by an agent";
    default:
      return "the certificate of the host was not issued by this fleet";
  }
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

/** How long an agent may take to read why it was refused. Nothing else would end a connection that it keeps open. */
const lingerMs = 1000;

function refuse(connection: TLSSocket, why: string, status = 403): void {
  const timer = setTimeout(() => connection.destroy(), lingerMs).unref();
  connection.once("close", () => clearTimeout(timer));
  const text = `${why}\n`;
  connection.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
