import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Test, test } from "tap";
import {
  caPublicKeyHashOf,
  createClusterPki,
} from "../../../../../server/domains/clusters/bootstrap/cluster-pki.ts";

const skip = spawnSync("openssl", ["version"]).error === undefined ? false : "openssl is missing";

async function openssl(cwd: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)("openssl", args, { cwd })).stdout;
}

/** Creates the keys of a cluster as files. */
async function clusterFiles(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-pki-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const pki = await createClusterPki(Date.now());
  const texts = {
    "ca.crt": pki.kubernetesCa.certificatePem,
    "etcd.crt": pki.etcdCa.certificatePem,
    "admin.crt": pki.admin.certificatePem,
    "admin.key": pki.admin.privateKeyPem,
    "sa.key": pki.serviceAccount.privateKeyPem,
    "sa.pub": pki.serviceAccount.publicKeyPem,
  };
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(folder, name), text);
  }
  return { pki, run: (...args: string[]) => openssl(folder, ...args) };
}

test("openssl verifies the administrator's certificate against its CA only", { skip }, async (t) => {
  const { run } = await clusterFiles(t);
  const verify = ["verify", "-x509_strict", "-purpose", "sslclient", "-CAfile"];
  t.equal(await run(...verify, "ca.crt", "admin.crt"), "admin.crt: OK\n");
  t.equal(await run("verify", "-x509_strict", "-CAfile", "ca.crt", "ca.crt"), "ca.crt: OK\n");
  await t.rejects(run(...verify, "etcd.crt", "admin.crt"));
  await t.rejects(run("verify", "-purpose", "sslserver", "-CAfile", "ca.crt", "admin.crt"));
});

test("openssl shows the expected key usages of the certificates", { skip }, async (t) => {
  const { run } = await clusterFiles(t);
  const authority = await run("x509", "-noout", "-text", "-in", "ca.crt");
  t.match(authority, /Basic Constraints: critical\s+CA:TRUE, pathlen:0\n/);
  t.match(authority, /Key Usage: critical\s+Digital Signature, Certificate Sign, CRL Sign\n/);
  t.match(authority, /Signature Algorithm: ecdsa-with-SHA256/);
  const admin = await run("x509", "-noout", "-text", "-in", "admin.crt");
  t.match(admin, /Basic Constraints: critical\s+CA:FALSE\n/);
  t.match(admin, /Key Usage: critical\s+Digital Signature\n/);
  t.match(admin, /Extended Key Usage: \s+TLS Web Client Authentication\n/);
  t.match(admin, /Subject: O = ?system:masters, CN = ?kubernetes-admin\n/);
});

test("openssl confirms the key pairs and the hash of the CA", { skip }, async (t) => {
  const { pki, run } = await clusterFiles(t);
  t.equal(
    await run("pkey", "-in", "admin.key", "-pubout"),
    await run("x509", "-in", "admin.crt", "-noout", "-pubkey"),
  );
  t.equal(await run("pkey", "-in", "sa.key", "-pubout"), pki.serviceAccount.publicKeyPem);
  await run("x509", "-in", "ca.crt", "-noout", "-pubkey", "-out", "ca.pub");
  await run("pkey", "-pubin", "-in", "ca.pub", "-outform", "DER", "-out", "ca.der");
  const hash = await run("dgst", "-sha256", "-r", "ca.der");
  t.equal(caPublicKeyHashOf(pki), `sha256:${hash.split(" ")[0]}`);
});
