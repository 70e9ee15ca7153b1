import type { Test } from "tap";
import type { NewEvent } from "../../../server/events/store/events.ts";
import { gatewayModules } from "../../../server/gateway/store-modules.ts";
import { openStore, type StoreOptions } from "../../../server/store/open-store.ts";
import type { Store } from "../../../server/store/store.ts";
import { keepLog, makeDirectory } from "../store/store-under-test.ts";
import type { transactions } from "./event-transactions.ts";

export type StoreWithEvents = Store<typeof transactions>;

/** Opens a real store with the gateway's transactions and one that writes past events; it is closed when the test ends. */
export async function openStoreWithEvents(
  t: Test,
  options: Partial<StoreOptions> = {},
): Promise<StoreWithEvents> {
  const store = await openStore<typeof transactions>({
    url: "sqlite",
    kind: "real",
    keyCheck: "key-1",
    log: keepLog(),
    modules: { ...gatewayModules, transactions: new URL("./event-transactions.ts", import.meta.url).href },
    ...options,
    directory: options.directory ?? (await makeDirectory(t)),
  });
  t.teardown(() => store.close());
  return store;
}

/** Returns an event that is identified by its payload. */
export function newEvent(id: number | string, facts: Partial<NewEvent> = {}): NewEvent {
  return {
    topic: "test",
    type: "test.happened",
    resource: "tests/a",
    host: "",
    services: ["proto.VGService"],
    payload: { id },
    ...facts,
  };
}

/** Appends an event for each ID, in separate transactions. */
export async function appendEach(
  store: Pick<Store, "run">,
  ids: readonly (number | string)[],
  facts: Partial<NewEvent> = {},
): Promise<void> {
  await Promise.all(ids.map((id) => store.run("events.append", { events: [newEvent(id, facts)] })));
}

/** Returns the ID of an event of `newEvent`. */
export function idOf({ payload }: { readonly payload: unknown }): number | string {
  return (payload as { id: number | string }).id;
}

/** Returns the integers from one to another, both included. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
