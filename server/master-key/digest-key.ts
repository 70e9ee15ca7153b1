import type { MasterKeys } from "../crypto/master-keys.ts";
import { createSeal } from "../crypto/seal.ts";
import type { Store } from "../store/store.ts";

/**
 * Returns the key of a digest, which is stored encrypted, and created if there is none. It stays the same when the master key
 * changes, because digests in the store must still match.
 * @param name a name that never changes
 * @param first the key to create
 */
export async function openDigestKey(
  store: Pick<Store, "run">,
  masterKeys: MasterKeys,
  name: string,
  first: Uint8Array,
): Promise<Uint8Array> {
  const seal = createSeal(masterKeys, "digest-key");
  const stored = await store.run("digestKeys.ensure", { name, sealed: seal.seal(first, name) });
  return seal.open(stored, name);
}
