import { createPublicKey } from "node:crypto";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import { createKeyPair, loadX509, signingKey, verifyingKey } from "../../crypto/x509.ts";
import { type CertifiedKey, type FleetAuthority, periodOfDays } from "./authority.ts";

/** How long a certificate of a hub or an agent is valid. */
export const certificateDays = 30;

/** The name in the certificate of every hub. Agents check it in place of an address, which may change. */
export const hubServerName = "hub.fleet.invalid";

/** Largest signing request. One of an ECDSA key has some 250 bytes. */
const maxSigningRequestBytes = 8192;

/** Issues the certificate with which a hub serves its agents. */
export async function issueHubCertificate({ hubIssuer }: FleetAuthority): Promise<CertifiedKey> {
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const publicKey = verifyingKey(createPublicKey(publicKeyPem));
  const certificatePem = await issue(
    hubIssuer,
    publicKey,
    [{ type: "dns", value: hubServerName }],
    "serverAuth",
  );
  return { certificatePem, privateKeyPem };
}

/** A public key to certify. */
export type CertifiableKey = ReturnType<typeof verifyingKey>;

/** A host, as its certificate names it. */
export interface CertifiedHost {
  readonly name: string;
  /** Distinguishes hosts that had the same name one after the other. */
  readonly id: string;
}

/** Before the ID of a host in the alternative names of its certificate. */
export const hostIdPrefix = "urn:uuid:";

/** Issues the certificate of an agent. */
export function issueAgentCertificate(
  { agentIssuer }: Pick<FleetAuthority, "agentIssuer">,
  { name, id }: CertifiedHost,
  publicKey: CertifiableKey,
): Promise<string> {
  const names = [
    { type: "dns", value: name },
    { type: "url", value: hostIdPrefix + id },
  ] as const;
  return issue(agentIssuer, publicKey, names, "clientAuth");
}

/** A key, and the request for its certificate. */
export interface SigningRequest {
  readonly privateKeyPem: string;
  /** PKCS #10, DER. */
  readonly signingRequest: Uint8Array;
}

/** Creates a key, and the signing request for its certificate. */
export async function createSigningRequest(): Promise<SigningRequest> {
  const x509 = await loadX509();
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: ["hostplane agent"] }],
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    keys: {
      publicKey: verifyingKey(createPublicKey(publicKeyPem)),
      privateKey: signingKey(privateKeyPem),
    },
  });
  return { privateKeyPem, signingRequest: new Uint8Array(request.rawData) };
}

/**
 * Reads the public key of a signing request (PKCS #10, DER). Nothing else of it is used: the hub decides everything else.
 * @throws InfraError INVALID_FIELD for `signing_request`
 */
export async function readSigningRequest(signingRequest: Uint8Array): Promise<CertifiableKey> {
  const expected = "expected a certificate signing request (PKCS #10, DER) of an ECDSA key on P-256";
  if (signingRequest.byteLength > maxSigningRequestBytes) {
    throw invalidField("signing_request", `${expected}, of at most ${maxSigningRequestBytes} bytes`);
  }
  const x509 = await loadX509();
  try {
    const request = new x509.Pkcs10CertificateRequest(signingRequest as Uint8Array<ArrayBuffer>);
    const key = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: "der", type: "spki" });
    if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1" || !(await request.verify())) {
      throw invalidField("signing_request", expected);
    }
    return verifyingKey(key);
  } catch {
    throw invalidField("signing_request", expected);
  }
}

async function issue(
  authority: CertifiedKey,
  publicKey: CertifiableKey,
  names: readonly [
    { readonly type: "dns"; readonly value: string },
    ...{ readonly type: "url"; readonly value: string }[],
  ],
  usage: "serverAuth" | "clientAuth",
): Promise<string> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [names[0].value] }],
    issuer: issuer.subjectName,
    ...periodOfDays(certificateDays),
    publicKey,
    signingKey: signingKey(authority.privateKeyPem),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]]),
      new x509.SubjectAlternativeNameExtension([...names]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return `${certificate.toString("pem")}\n`;
}
