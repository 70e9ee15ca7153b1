import { isAbsolute } from "node:path";
import { invalidField } from "../../adapters/host/infra-error.ts";
import { sealExportedKeys } from "../backups/exported-keys.ts";
import { createRepositoryKeys } from "../backups/repository-keys.ts";
import { loadMasterKeys, type MasterKeys } from "../crypto/master-keys.ts";
import { createSeal } from "../crypto/seal.ts";
import type { ExportedKeys } from "../web/repository-keys.ts";
import type { Data } from "./open-data.ts";

/**
 * Exports the keys of all backup repositories, encrypted with the key in a file.
 * @throws InfraError INVALID_FIELD when that key cannot be read, or is a master key of the gateway; STORE_UNAVAILABLE
 */
export async function exportKeys(
  { store, masterKeys }: Pick<Data, "store" | "masterKeys">,
  keyFile: string,
): Promise<ExportedKeys> {
  const secondKey = readSecondKey(keyFile);
  if (masterKeys.find(secondKey.current.fingerprint) !== undefined) {
    throw invalidField("key-file", `${keyFile} is a master key of this gateway; expected another key`);
  }
  const keys = await createRepositoryKeys(store, createSeal(masterKeys, "repository-key")).all();
  return { count: keys.length, text: sealExportedKeys(keys, secondKey) };
}

function readSecondKey(keyFile: string): MasterKeys {
  if (!isAbsolute(keyFile)) {
    // The gateway's working directory is not the caller's.
    throw invalidField("key-file", `must be an absolute path, got ${JSON.stringify(keyFile)}`);
  }
  try {
    return loadMasterKeys({ environmentKey: undefined, keyFile, defaultFile: "", isStoreNew: false });
  } catch (error) {
    throw invalidField("key-file", error instanceof Error ? error.message : String(error));
  }
}
