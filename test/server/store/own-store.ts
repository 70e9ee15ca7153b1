import type { Test } from "tap";
import { gatewayModules } from "../../../server/gateway/store-modules.ts";
import { openStore, type StoreOptions } from "../../../server/store/open-store.ts";
import type { Store } from "../../../server/store/store.ts";
import { keepLog, makeDirectory } from "./store-under-test.ts";

/** Opens a real store with the gateway's own transactions; it is closed when the test ends. */
export async function openOwnStore(t: Test, options: Partial<StoreOptions> = {}): Promise<Store> {
  const directory = options.directory ?? (await makeDirectory(t));
  const store = await openStore({
    modules: gatewayModules,
    url: "sqlite",
    kind: "real",
    keyCheck: "key-1",
    log: keepLog(),
    ...options,
    directory,
  });
  t.teardown(() => store.close());
  return store;
}
