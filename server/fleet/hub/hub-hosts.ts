import type { Store } from "../../store/store.ts";
import type { CertifiedHost } from "../authority/issue-certificate.ts";
import type { HostRecord, HostState } from "../store/hosts.ts";

/** The hosts of the fleet, kept in memory as they are in the store. */
export interface HubHosts {
  /** By name, in the order of `<`. */
  list(): readonly HostRecord[];
  find(name: string): HostRecord | undefined;
  has(host: CertifiedHost): boolean;
  /** Reads the store. @throws InfraError STORE_UNAVAILABLE */
  refresh(): Promise<void>;
  /**
   * Calls back after each change, except that a host was seen again. Returns a function that removes the listener.
   */
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
    const states = await store.run("fleet.hostStates", undefined);
    const known = byName;
    const unchanged = (state: HostState) => {
      const record = known.get(state.name);
      return record?.id === state.id && record.revision === state.revision ? record : undefined;
    };
    const ids = states.flatMap((state) => (unchanged(state) === undefined ? state.id : []));
    const changed = ids.length === 0 ? [] : await store.run("fleet.hosts", { ids });
    const changedByName = new Map(changed.map((record) => [record.name, record]));
    // PostgreSQL may order names by the rules of a language.
    const ordered = states.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    byName = new Map(
      ordered.flatMap((state) => {
        const { name, lastSeenAtMs } = state;
        // One that was removed since its state was read is in neither.
        const record = unchanged(state) ?? changedByName.get(name);
        return record === undefined ? [] : [[name, { ...record, lastSeenAtMs }]];
      }),
    );
    if (changed.length > 0 || byName.size !== known.size) {
      for (const listener of [...listeners]) {
        listener();
      }
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
