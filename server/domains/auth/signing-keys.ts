import { randomBytes } from "node:crypto";
import type { Seal } from "../../crypto/seal.ts";
import type { NewSigningKey } from "../../store/sessions.ts";
import type { Store } from "../../store/store.ts";

/** What secrets of signing keys are sealed for. */
export const signingKeyPurpose = "signing-key";

/** RFC 7518, 3.2: a key of HS256 has at least as many bits as its hash. */
const secretBytes = 32;
const idBytes = 9;

/** Makes the first key that signs sessions, unless there is one. */
export async function ensureSigningKey(store: Pick<Store, "run">, seal: Seal): Promise<void> {
  await store.run("signingKeys.ensure", makeSigningKey(seal));
}

/**
 * Signs with a new key from now on; tokens that older ones have signed are good until they expire.
 * @returns the id of the new key
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
