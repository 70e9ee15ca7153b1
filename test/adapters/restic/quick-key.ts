import { createCipheriv, createHash, randomBytes, scryptSync } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../adapters/host/process/run.ts";

/** The minimum that restic accepts; by default, opening a repository takes half a second of CPU time. */
const cost = { N: 2, r: 1, p: 1 };

/**
 * Replaces a local repository's key file with one whose key derivation is instant, for tests that start restic a
 * hundred times. The format is described at
 * https://restic.readthedocs.io/en/stable/100_references.html#keys-encryption-and-mac.
 */
export async function quickenKey(path: string, password: string): Promise<void> {
  const { stdout } = await run(["restic", "--repo", path, "--no-cache", "cat", "masterkey"], {
    kind: "read",
    env: { RESTIC_PASSWORD: password },
  });
  const salt = randomBytes(64);
  const derived = scryptSync(password, salt, 64, cost);
  const keyFile = JSON.stringify({
    created: new Date().toISOString(),
    username: "test",
    hostname: "test",
    kdf: "scrypt",
    ...cost,
    salt: salt.toString("base64"),
    data: sealed(Buffer.from(stdout), derived).toString("base64"),
  });
  const keys = join(path, "keys");
  for (const old of await readdir(keys)) {
    await rm(join(keys, old), { force: true });
  }
  await writeFile(join(keys, createHash("sha256").update(keyFile).digest("hex")), keyFile);
}

/**
 * Encrypts with AES-256-CTR and authenticates with Poly1305-AES. The key is 32 bytes for the former, and k and r of the
 * latter.
 */
function sealed(plain: Buffer, key: Buffer): Buffer {
  const nonce = randomBytes(16);
  const cipher = createCipheriv("aes-256-ctr", key.subarray(0, 32), nonce);
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  const aes = createCipheriv("aes-128-ecb", key.subarray(32, 48), null);
  const s = aes.update(nonce).subarray(0, 16);
  return Buffer.concat([nonce, encrypted, poly1305(encrypted, key.subarray(48, 64), s)]);
}

/** https://cr.yp.to/mac/poly1305-20050329.pdf, page 2. */
function poly1305(message: Buffer, r: Buffer, s: Buffer): Buffer {
  const factor = littleEndian(r) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  let sum = 0n;
  for (let at = 0; at < message.length; at += 16) {
    const block = Buffer.concat([message.subarray(at, at + 16), Buffer.of(1)]);
    sum = ((sum + littleEndian(block)) * factor) % (2n ** 130n - 5n);
  }
  const tag = (sum + littleEndian(s)) % 2n ** 128n;
  return Buffer.from(tag.toString(16).padStart(32, "0"), "hex").reverse();
}

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}
