import type { Store } from "../../store/store.ts";
import type { CertifiedHost } from "../authority/issue-certificate.ts";
import type { HostRecord } from "../store/hosts.ts";

/** The hosts of the fleet, kept in memory as they are in the store. */
export interface HubHosts {
  /** By name. */
  list(): readonly HostRecord[];
  find(name: string): HostRecord | undefined;
  has(host: CertifiedHost): boolean;
  /** Reads the store. @throws InfraError STORE_UNAVAILABLE */
  refresh(): Promise<void>;
  /** Calls back after each change. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;
  close(): void;
}

/** @param onFailed called when the store cannot be read after a change */
export async function openHubHosts(
  store: Pick<Store, "run" | "subscribe">,
  onFailed: (error: unknown) => void,
): Promise<HubHosts> {
  let byName: ReadonlyMap<string, HostRecord> = new Map();
  let last = Promise.resolve();
  let waiting: Promise<void> | undefined;
  const listeners = new Set<() => void>();

  async function read(): Promise<void> {
    const records = await store.run("fleet.hosts", undefined);
    byName = new Map(records.map((record) => [record.name, record]));
    for (const listener of [...listeners]) {
      listener();
    }
  }

  /** Reads one after the other, so that no earlier state replaces a later one. All that wait share the next. */
  function refresh(): Promise<void> {
    waiting ??= last
      .catch(() => {})
      .then(() => {
        waiting = undefined;
        return read();
      });
    last = waiting;
    return waiting;
  }

  await refresh();
  const unsubscribe = store.subscribe("fleet", () => void refresh().catch(onFailed));
  const find = (name: string) => byName.get(name);
  return {
    list: () => [...byName.values()],
    find,
    has: ({ name, id }) => find(name)?.id === id,
    refresh,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: unsubscribe,
  };
}
