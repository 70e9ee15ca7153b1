import { createHash, X509Certificate } from "node:crypto";
import { connect, type TLSSocket } from "node:tls";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { EnrollmentService, type IssuedCertificate } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { createSigningRequest, hubServerName, type SigningRequest } from "../authority/issue-certificate.ts";
import type { JoinToken } from "../join-token.ts";
import { fleetReasons } from "../reasons.ts";
import { type AgentIdentity, explainTlsFailure, hostAndPort, tlsOptionsOf } from "./connect-to-hub.ts";

/** Membership of a gateway in a fleet. */
export interface StoredMembership extends AgentIdentity {
  /** Name of this host in the fleet. */
  readonly name: string;
  readonly fleetId: string;
  /** Addresses of the hubs, as `host:port`. */
  readonly hubs: readonly string[];
}

const timeoutMs = 15_000;

/** How often a hub is asked for a certificate while no answer arrives. */
const attempts = 3;

/**
 * Gets the first certificate of this host, for a token. Tries the hubs in order, and uses the first one that shows the
 * certificate authority that the token names.
 * @param name the name that the host asks for
 * @param key the host's key. A hub has used up the token even if its answer is lost; a request with the same key gets it again
 * @throws InfraError HUB_NOT_TRUSTED, JOIN_TOKEN_REFUSED, HOST_EXISTS, HUB_UNREACHABLE
 */
export async function enroll(
  token: JoinToken,
  name: string,
  { privateKeyPem, signingRequest }: SigningRequest,
): Promise<StoredMembership> {
  const problems: string[] = [];
  for (const address of token.hubs) {
    let rootPem: string;
    try {
      rootPem = await readRoot(address, token.rootFingerprint);
    } catch (error) {
      problems.push(`${address}: ${explainTlsFailure(error)}`);
      continue;
    }
    const client = clientOf(address, { ca: rootPem, servername: hubServerName, minVersion: "TLSv1.3" });
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { issued } = await client.enroll({ code: token.code, name, signingRequest });
        return membershipFrom(issued, privateKeyPem);
      } catch (thrown) {
        const error = errorOfHub(thrown);
        if (attempt === attempts || !isUnreachable(error)) {
          throw error;
        }
      }
    }
  }
  throw new InfraError(
    fleetReasons.HUB_NOT_TRUSTED,
    `no hub of the token can be used (${problems.join("; ")})`,
  );
}

/** Returns the error of a hub as one of this gateway, with the hub's reason and message if it is one of the fleet. */
function errorOfHub(thrown: unknown): unknown {
  if (!(thrown instanceof ConnectError)) {
    return thrown;
  }
  const name = thrown.findDetails(ErrorInfoSchema)[0]?.reason;
  const reason = Object.values(fleetReasons).find(({ id }) => id === name);
  return new InfraError(reason ?? fleetReasons.HUB_UNREACHABLE, `the hub: ${messageOf(thrown)}`, {
    cause: thrown,
  });
}

function isUnreachable(error: unknown): boolean {
  return error instanceof InfraError && error.reason === fleetReasons.HUB_UNREACHABLE.id;
}

/** Returns the message of a hub, or that of a connection that has failed. */
function messageOf({ cause, rawMessage }: ConnectError): string {
  return cause instanceof Error ? explainTlsFailure(cause) : rawMessage;
}

/** Gets a new certificate from a hub. @throws ConnectError */
export async function renew(membership: StoredMembership, address: string): Promise<StoredMembership> {
  const { privateKeyPem, signingRequest } = await createSigningRequest();
  const client = clientOf(address, tlsOptionsOf(membership));
  const { issued } = await client.renewCertificate({ signingRequest });
  return membershipFrom(issued, privateKeyPem);
}

function clientOf(address: string, nodeOptions: Readonly<Record<string, unknown>>) {
  const { host, port } = hostAndPort(address);
  const transport = createConnectTransport({
    httpVersion: "1.1",
    baseUrl: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    nodeOptions,
    defaultTimeoutMs: timeoutMs,
  });
  return createClient(EnrollmentService, transport);
}

function membershipFrom(issued: IssuedCertificate | undefined, privateKeyPem: string): StoredMembership {
  if (issued === undefined || issued.hubs.length === 0) {
    throw new InfraError(fleetReasons.HUB_NOT_TRUSTED, "the hub has issued no certificate");
  }
  const { name, fleetId, certificates, hubAuthority, hubs } = issued;
  const pemOf = (der: Uint8Array) => new X509Certificate(der).toString();
  return {
    name,
    fleetId,
    privateKeyPem,
    certificatePem: certificates.map(pemOf).join(""),
    hubAuthorityPem: pemOf(hubAuthority),
    hubs,
  };
}

/**
 * Reads the root certificate that a hub shows with its own, and checks its fingerprint. The signatures between the two are not
 * checked here: the next connection verifies the hub's certificate against this root.
 * @param fingerprint SHA-256 in base64url
 * @returns PEM
 */
async function readRoot(address: string, fingerprint: string): Promise<string> {
  const { host, port } = hostAndPort(address);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket: TLSSocket = connect({
    host,
    port,
    servername: hubServerName,
    minVersion: "TLSv1.3",
    rejectUnauthorized: false,
    timeout: timeoutMs,
  });
  socket.once("secureConnect", resolve);
  socket.once("error", reject);
  socket.once("timeout", () => reject(new Error("no answer")));
  try {
    await promise;
    let certificate = socket.getPeerX509Certificate();
    for (let depth = 0; depth < 4 && certificate !== undefined; depth += 1) {
      if (createHash("sha256").update(certificate.raw).digest("base64url") === fingerprint) {
        return certificate.toString();
      }
      certificate = certificate.issuerCertificate;
    }
    throw new Error("its certificate authority is not the one that the token names");
  } finally {
    socket.destroy();
  }
}
