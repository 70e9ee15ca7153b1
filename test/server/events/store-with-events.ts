import type { Test } from "tap";
import type { NewEvent } from "../../../server/store/events.ts";
import { openStore, type StoreOptions } from "../../../server/store/open-store.ts";
import { ownModules } from "../../../server/store/program.ts";
import type { Store } from "../../../server/store/store.ts";
import { keepLog, makeDirectory } from "../store/store-under-test.ts";
import type { transactions } from "./event-transactions.ts";

export type StoreWithEvents = Store<typeof transactions>;

/** Opens a real store with the gateway's transactions, and one that writes events of the past; closed with the test. */
export async function openStoreWithEvents(
  t: Test,
  options: Partial<StoreOptions> = {},
): Promise<StoreWithEvents> {
  const store = await openStore<typeof transactions>({
    url: "sqlite",
    kind: "real",
    keyCheck: "key-1",
    log: keepLog(),
    modules: { ...ownModules, transactions: new URL("./event-transactions.ts", import.meta.url).href },
    ...options,
    directory: options.directory ?? (await makeDirectory(t)),
  });
  t.teardown(() => store.close());
  return store;
}

/** An event that is told apart from others by its payload. */
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

/** Appends an event for each id, in a transaction each. */
export async function appendEach(
  store: Pick<Store, "run">,
  ids: readonly (number | string)[],
  facts: Partial<NewEvent> = {},
): Promise<void> {
  await Promise.all(ids.map((id) => store.run("events.append", { events: [newEvent(id, facts)] })));
}

/** What `newEvent` was made of. */
export function idOf({ payload }: { readonly payload: unknown }): number | string {
  return (payload as { id: number | string }).id;
}

/** The whole numbers from one to another, both included. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
