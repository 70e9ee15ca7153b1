import { randomBytes } from "node:crypto";
import type { Seal } from "../../../crypto/seal.ts";
import type { Store } from "../../../store/store.ts";
import type { NewSigningKey } from "../store/sessions.ts";

/** Seal purpose of signing keys. */
export const signingKeyPurpose = "signing-key";

/** RFC 7518, 3.2: a key of HS256 has at least as many bits as its hash. */
const secretBytes = 32;
const idBytes = 9;

/** Creates the first signing key, unless there is one. */
export async function ensureSigningKey(store: Pick<Store, "run">, seal: Seal): Promise<void> {
  await store.run("signingKeys.ensure", makeSigningKey(seal));
}

/**
 * Replaces the signing key; tokens that older keys have signed stay valid until they expire.
 * @returns the ID of the new key
 */
export async function rotateSigningKey(store: Pick<Store, "run">, seal: Seal): Promise<string> {
  const key = makeSigningKey(seal);
  await store.run("signingKeys.rotate", key);
  return key.id;
}

function makeSigningKey(seal: Seal): NewSigningKey {
  const id = randomBytes(idBytes).toString("base64url");
  return { id, secretSealed: seal.seal(randomBytes(secretBytes), id) };
}
