import { createPrivateKey, createPublicKey, randomBytes, sign, verify, X509Certificate } from "node:crypto";
import { test } from "tap";
import { masterKeysFromText } from "../../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../../server/crypto/seal.ts";
import {
  adminExpiresAt,
  type ClusterPki,
  caPublicKeyHashOf,
  createClusterPki,
  formatClusterPki,
  isAdminRenewalDue,
  parseClusterPki,
  renewAdminCertificate,
} from "../../../../../server/domains/clusters/bootstrap/cluster-pki.ts";

const nowMs = Date.parse("2026-11-21T12:00:00Z");
const dayMs = 24 * 3_600_000;
const pki = await createClusterPki(nowMs);
const { kubernetesCa, etcdCa, frontProxyCa, admin, serviceAccount } = pki;

function isPair(certificatePem: string, privateKeyPem: string): boolean {
  return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(privateKeyPem));
}

test("a cluster has three CAs that are valid for ten years, under kubeadm's names", async (t) => {
  for (const [authority, subject] of [
    [kubernetesCa, "CN=kubernetes"],
    [etcdCa, "CN=etcd-ca"],
    [frontProxyCa, "CN=front-proxy-ca"],
  ] as const) {
    const certificate = new X509Certificate(authority.certificatePem);
    t.equal(certificate.subject, subject);
    t.equal(certificate.issuer, subject);
    t.ok(certificate.ca, subject);
    t.ok(certificate.verify(certificate.publicKey), `${subject} is self-signed`);
    t.ok(isPair(authority.certificatePem, authority.privateKeyPem), subject);
    t.equal(Date.parse(certificate.validFrom), nowMs - 3_600_000, "valid for clocks that are slow");
    t.equal(new Date(certificate.validTo).getUTCFullYear(), 2036);
    t.match(certificate.publicKey.asymmetricKeyDetails, { namedCurve: "prime256v1" });
  }
});

test("the administrator's certificate is not a CA, and is valid for a year", async (t) => {
  const certificate = new X509Certificate(admin.certificatePem);
  const authority = new X509Certificate(kubernetesCa.certificatePem);
  t.equal(certificate.subject, "O=system:masters\nCN=kubernetes-admin");
  t.notOk(certificate.ca);
  t.ok(certificate.checkIssued(authority));
  t.ok(certificate.verify(authority.publicKey));
  t.notOk(certificate.verify(new X509Certificate(etcdCa.certificatePem).publicKey));
  t.same(certificate.keyUsage, ["1.3.6.1.5.5.7.3.2"], "for clients only");
  t.ok(isPair(admin.certificatePem, admin.privateKeyPem));
  t.equal(adminExpiresAt(pki).getTime(), nowMs + 365 * dayMs);
});

test("service account tokens can be signed and verified", async (t) => {
  const signature = sign("sha256", Buffer.from("token"), createPrivateKey(serviceAccount.privateKeyPem));
  t.ok(verify("sha256", Buffer.from("token"), createPublicKey(serviceAccount.publicKeyPem), signature));
});

test("two clusters have nothing in common, and serial numbers are random", async (t) => {
  const other = await createClusterPki(nowMs);
  const parts = (each: ClusterPki) => [
    ...[each.kubernetesCa, each.etcdCa, each.frontProxyCa, each.admin].flatMap(
      ({ certificatePem, privateKeyPem }) => [certificatePem, privateKeyPem],
    ),
    ...Object.values(each.serviceAccount),
  ];
  t.equal(new Set([...parts(pki), ...parts(other)]).size, 20);
  const serials = [kubernetesCa, etcdCa, frontProxyCa, admin].map(
    ({ certificatePem }) => new X509Certificate(certificatePem).serialNumber,
  );
  t.equal(new Set(serials).size, 4);
  for (const serial of serials) {
    t.match(serial, /^[0-9A-F]{24,40}$/, "at least 64 random bits, at most 20 bytes");
  }
});

test("a new certificate for the administrator changes nothing else", async (t) => {
  const laterMs = nowMs + 340 * dayMs;
  t.notOk(isAdminRenewalDue(pki, nowMs + 334 * dayMs));
  t.ok(isAdminRenewalDue(pki, laterMs));
  const renewed = await renewAdminCertificate(pki, laterMs);
  t.notOk(isAdminRenewalDue(renewed, laterMs));
  t.equal(adminExpiresAt(renewed).getTime(), laterMs + 365 * dayMs);
  t.same({ ...renewed, admin }, pki);
  t.not(renewed.admin.privateKeyPem, admin.privateKeyPem);
  const authority = new X509Certificate(kubernetesCa.certificatePem);
  t.ok(new X509Certificate(renewed.admin.certificatePem).verify(authority.publicKey));
});

test("all keys can be restored from a seal, and nothing else is accepted", async (t) => {
  const masterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "the test");
  const seal = createSeal(masterKeys, "cluster keys");
  const sealed = seal.seal(Buffer.from(formatClusterPki(pki)), "clusters/prod");
  t.same(parseClusterPki(Buffer.from(seal.open(sealed, "clusters/prod")).toString()), pki);
  for (const text of ["", "{}", "null", JSON.stringify({ ...pki, admin: { privateKeyPem: "secret" } })]) {
    t.throws(() => parseClusterPki(text), { message: "the stored cluster keys are invalid" });
  }
});

test("a joining machine verifies the cluster by its CA's public key", async (t) => {
  t.match(caPublicKeyHashOf(pki), /^sha256:[0-9a-f]{64}$/);
  t.equal(caPublicKeyHashOf(await renewAdminCertificate(pki, nowMs)), caPublicKeyHashOf(pki));
});
