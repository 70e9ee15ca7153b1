import { createHash, X509Certificate } from "node:crypto";
import { z } from "zod";
import { invalidField } from "../../adapters/host/infra-error.ts";
import type { FleetAuthority } from "./authority/authority.ts";

/** What a host needs to join a fleet. */
export interface JoinToken {
  /** Addresses of the hubs, as `host:port`. */
  readonly hubs: readonly string[];
  /** SHA-256 of the root certificate (DER) of the fleet's authority, in base64url. */
  readonly rootFingerprint: string;
  /** One-time code, in base64url. */
  readonly code: string;
}

/** Most addresses of hubs that a fleet has. */
export const maxHubs = 16;

/** Addresses of hubs, as tokens and hubs name them. */
export const hubAddresses = z.array(z.string().min(3).max(300)).min(1).max(maxHubs);

const prefix = "hpj_";
const maxLength = 4096;

const schema = z.strictObject({
  hubs: hubAddresses,
  root: z.string().length(43),
  code: z.string().length(43),
});

/** Returns the fingerprint of an authority, as tokens have it. */
export function rootFingerprintOf({ root }: Pick<FleetAuthority, "root">): string {
  return createHash("sha256").update(new X509Certificate(root.certificatePem).raw).digest("base64url");
}

/** Formats a token for people, who copy it from one host to another. */
export function formatJoinToken({ hubs, rootFingerprint, code }: JoinToken): string {
  return prefix + Buffer.from(JSON.stringify({ hubs, root: rootFingerprint, code })).toString("base64url");
}

/** Parses a token. @throws InfraError INVALID_FIELD for `token`; the message does not repeat it */
export function parseJoinToken(text: string): JoinToken {
  const expected = `expected a token of \`hostplane host token\`, which begins with ${prefix}`;
  if (!text.startsWith(prefix) || text.length > maxLength) {
    throw invalidField("token", expected);
  }
  try {
    const json = Buffer.from(text.slice(prefix.length), "base64url").toString();
    const { hubs, root, code } = schema.parse(JSON.parse(json));
    return { hubs, rootFingerprint: root, code };
  } catch {
    throw invalidField("token", `${expected}; this one is truncated or mistyped`);
  }
}
