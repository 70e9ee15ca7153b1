import { setTimeout as delay } from "node:timers/promises";
import { backOffMs } from "../../../../adapters/host/back-off.ts";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import { InventoryService } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import type { Activity } from "../../../domain/domain-services.ts";
import { hubAsCaller } from "../../../fleet/caller/hub-as-caller.ts";
import { hostUnreachable } from "../../../fleet/host-errors.ts";
import { errorFromHost } from "../../../fleet/hub/error-from-host.ts";
import { createHostClient } from "../../../fleet/hub/host-client.ts";
import type { Hub } from "../../../fleet/hub/hub.ts";
import type { HostLink } from "../../../fleet/links/host-link.ts";
import type { Store } from "../../../store/store.ts";
import type { InventoryRow } from "../read-inventory.ts";
import { inventoryReasons } from "../reasons.ts";
import type { HostInventory } from "./host-inventory.ts";
import { type HostDomainProblem, hostProblemsFrom } from "./host-problems.ts";
import { allRowsMax, createHostRows, createRowsBudget, type HostRows, incompleteRows } from "./host-rows.ts";
import { type HostState, keepStored, type StoredStates } from "./keep-stored.ts";
import { readStoredRows, type StoredRows } from "./stored-rows.ts";

/** The resources of all hosts of a fleet, which each host reports to the hub while it is connected. */
export interface HostInventories {
  /** Returns what is known of a host of the fleet. Never waits for it. */
  read(host: string): HostInventory;
  /** Calls back when anything may have changed. Returns the function that ends it. */
  subscribe(onChange: () => void): () => void;
  /** Begins to follow the hosts. */
  begin(): Activity;
}

/** Pauses before a host is asked again after an error that it has reported. */
const pauses = { firstMs: 2000, longestMs: 60_000 };

/** What is kept of a host. */
interface Kept {
  /** The link that is followed, or was last; undefined: the rows are those of the store. */
  link: HostLink | undefined;
  /** Of the host: a new one of the same name has another. */
  readonly id: string;
  rows: readonly InventoryRow[];
  /** Undefined: the rows are those of an earlier link or the store, or none have arrived. */
  current: HostRows | undefined;
  problems: readonly HostDomainProblem[];
  /** When the rows were last known to be the host's; undefined while they are, and while there are none. */
  lostAtMs: number | undefined;
  error: InfraError | undefined;
}

const noRows: readonly InventoryRow[] = [];

/** @param onFailed called when stored rows cannot be read or written */
export function createHostInventories(
  { name, hosts, links }: Pick<Hub, "name" | "hosts" | "links">,
  store: Pick<Store, "run">,
  onFailed: (error: unknown) => void,
): HostInventories {
  const keptByHost = new Map<string, Kept>();
  const budget = createRowsBudget(allRowsMax);
  const listeners = new Set<() => void>();
  const following = new Set<Promise<void>>();

  function changed(): void {
    for (const listener of [...listeners]) {
      listener();
    }
  }

  /** Follows a new connection, and forgets hosts that were removed. */
  function onLink(host: string, states: StoredStates, signal: AbortSignal): void {
    const link = links.find(host);
    const id = hosts.find(host)?.id;
    if (link !== undefined && id !== undefined && keptByHost.get(host)?.link !== link) {
      const kept = keptFor(host, id, link);
      const ended = followUntilLost(kept, link, states, signal).finally(() => following.delete(ended));
      following.add(ended);
    }
    changed();
  }

  function keptFor(host: string, id: string, link: HostLink): Kept {
    const before = keptByHost.get(host);
    before?.current?.release();
    const same = before?.id === id ? before : undefined;
    const kept: Kept = {
      id,
      link,
      rows: same?.rows ?? noRows,
      problems: same?.problems ?? [],
      lostAtMs: same === undefined || same.rows === noRows ? undefined : (same.lostAtMs ?? Date.now()),
      current: undefined,
      error: undefined,
    };
    keptByHost.set(host, kept);
    return kept;
  }

  const isKept = (kept: Kept, { host }: HostLink) => keptByHost.get(host) === kept;

  function forgetRemoved(): void {
    for (const [host, kept] of keptByHost) {
      if (hosts.find(host)?.id !== kept.id) {
        kept.current?.release();
        keptByHost.delete(host);
      }
    }
    changed();
  }

  /** Shows the stored rows of a host that has reported none since the hub was started. */
  function showStored(host: string, id: string, { atMs, resources }: StoredRows): void {
    const kept = keptByHost.get(host);
    if (hosts.find(host)?.id !== id || (kept !== undefined && kept.rows !== noRows)) {
      return;
    }
    const current = createHostRows(host, budget);
    current.apply(resources, []);
    const rows = current.rows();
    if (kept === undefined) {
      const facts = { id, link: undefined, problems: [], error: undefined };
      keptByHost.set(host, { ...facts, rows, current, lostAtMs: atMs });
    } else {
      // Until its host has reported all of them.
      current.release();
      kept.rows = rows;
      kept.lostAtMs = atMs;
    }
    changed();
  }

  async function showAllStored(signal: AbortSignal): Promise<void> {
    for (const { name: host, id } of hosts.list()) {
      const isKnown = keptByHost.get(host)?.rows !== noRows && keptByHost.has(host);
      const stored = isKnown || signal.aborted ? undefined : await readStoredRows(store, id).catch(onFailed);
      if (stored !== undefined) {
        showStored(host, id, stored);
      }
    }
  }

  /** Returns the rows of a host while they are known to be the host's. */
  function currentState({ id, rows, current, link, lostAtMs }: Kept): readonly HostState[] {
    const isCurrent = current !== undefined && link !== undefined && lostAtMs === undefined;
    return isCurrent ? [{ id, rows, atMs: Date.now() }] : [];
  }

  async function followUntilLost(
    kept: Kept,
    link: HostLink,
    states: StoredStates,
    signal: AbortSignal,
  ): Promise<void> {
    const ending = AbortSignal.any([signal, link.closed]);
    let failures = 0;
    while (!ending.aborted) {
      try {
        await follow(kept, link, ending);
      } catch (thrown) {
        kept.error = errorFromHost(thrown, link);
      }
      failures += 1;
      if (kept.current !== undefined) {
        kept.lostAtMs = Date.now();
        failures = 1;
      }
      changed();
      await delay(backOffMs(failures, pauses), undefined, { signal: ending }).catch(() => {});
    }
    const { id, rows, current, lostAtMs } = kept;
    if (!signal.aborted && current !== undefined && lostAtMs !== undefined && isKept(kept, link)) {
      states.store({ id, rows, atMs: lostAtMs });
    }
  }

  /** Keeps what the host reports, and shows the rows of before until the whole state has arrived. */
  async function follow(kept: Kept, link: HostLink, signal: AbortSignal): Promise<void> {
    const client = createHostClient(link, InventoryService, hubAsCaller(name));
    kept.current?.release();
    kept.current = undefined;
    const rows = createHostRows(link.host, budget);
    try {
      for await (const message of client.watchResources({}, { signal })) {
        if (!isKept(kept, link)) {
          return;
        }
        rows.apply(message.changed, message.removed);
        if (message.synced) {
          kept.current = rows;
          kept.lostAtMs = undefined;
          kept.rows = rows.rows();
          kept.problems = hostProblemsFrom(message.problems);
          kept.error = rows.isIncomplete() ? incompleteRows(link.host) : undefined;
          changed();
        }
      }
    } finally {
      if (kept.current !== rows || !isKept(kept, link)) {
        rows.release();
      }
    }
  }

  return {
    read(host) {
      const kept = keptByHost.get(host);
      const link = links.find(host);
      const isFollowed = link !== undefined && kept?.link === link;
      const isCurrent =
        isFollowed &&
        kept?.current !== undefined &&
        kept.error?.is(inventoryReasons.HOST_INVENTORY_TOO_LARGE) !== false;
      return {
        host,
        isConnected: link !== undefined,
        readAtMs: isCurrent ? Date.now() : kept?.lostAtMs,
        error: link === undefined ? hostUnreachable(host, "it is not connected to this hub") : kept?.error,
        rows: kept?.rows ?? noRows,
        problems: kept?.problems ?? [],
      };
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
    begin() {
      const closing = new AbortController();
      const { signal } = closing;
      const connected = () => [...keptByHost.values()].flatMap(currentState);
      const states = keepStored({ store, connected, onFailed });
      const stops = [links.onChange((host) => onLink(host, states, signal)), hosts.onChange(forgetRemoved)];
      for (const host of links.hosts()) {
        onLink(host, states, signal);
      }
      const showing = showAllStored(signal);
      return {
        async close() {
          for (const stop of stops) {
            stop();
          }
          await states.close();
          closing.abort();
          await Promise.all([...following, showing]);
        },
      };
    },
  };
}
