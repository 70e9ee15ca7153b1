import { join } from "node:path";
import type { Test } from "tap";
import { loadMasterKeys } from "../../../server/crypto/master-keys.ts";
import type { Store } from "../../../server/store/store.ts";
import { openOwnStore } from "../store/own-store.ts";

/** Opens the store of a sandbox that is not running, with its key; closed when the test ends. @param data its data directory */
export function openSandboxStore(t: Test, data: string): Promise<Store> {
  const directory = join(data, "sandbox");
  const { current } = loadMasterKeys({
    environmentKey: undefined,
    keyFile: undefined,
    defaultFile: join(directory, "key"),
    isStoreNew: false,
  });
  return openOwnStore(t, { directory, kind: "sandbox", keyCheck: current.fingerprint });
}
