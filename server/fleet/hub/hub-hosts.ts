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
  let records: readonly HostRecord[] = [];
  const listeners = new Set<() => void>();

  async function refresh(): Promise<void> {
    records = await store.run("fleet.hosts", undefined);
    for (const listener of [...listeners]) {
      listener();
    }
  }

  await refresh();
  const unsubscribe = store.subscribe("fleet", () => void refresh().catch(onFailed));
  const find = (name: string) => records.find((record) => record.name === name);
  return {
    list: () => records,
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
