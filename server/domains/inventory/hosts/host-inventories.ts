import { setTimeout as delay } from "node:timers/promises";
import { backOffMs } from "../../../../adapters/host/back-off.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { InventoryService } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import type { Activity } from "../../../domain/domain-services.ts";
import { hubAsCaller } from "../../../fleet/caller/hub-as-caller.ts";
import { hostUnreachable } from "../../../fleet/host-errors.ts";
import { errorFromHost } from "../../../fleet/hub/error-from-host.ts";
import { createHostClient } from "../../../fleet/hub/host-client.ts";
import type { Hub } from "../../../fleet/hub/hub.ts";
import type { HostLink } from "../../../fleet/links/host-link.ts";
import type { InventoryRow } from "../read-inventory.ts";
import { inventoryReasons } from "../reasons.ts";
import { type HostDomainProblem, hostProblemsFrom } from "./host-problems.ts";
import {
  allRowsMax,
  createHostRows,
  createRowsBudget,
  type HostRows,
  hostRowsMax,
  rowMaxBytes,
} from "./host-rows.ts";

/** What a hub knows of the resources of a host. */
export interface HostInventory {
  readonly host: string;
  readonly isConnected: boolean;
  /** Until when the rows are known to be the host's, in milliseconds since the epoch; undefined if there are none. */
  readonly readAtMs: number | undefined;
  /** Why the rows are missing, old or incomplete. */
  readonly error: InfraError | undefined;
  /** The same array as long as nothing has changed. */
  readonly rows: readonly InventoryRow[];
  readonly problems: readonly HostDomainProblem[];
}

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
  /** The link that is followed, or was last. */
  link: HostLink | undefined;
  /** Of the host: a new one of the same name has another. */
  readonly id: string;
  rows: readonly InventoryRow[];
  /** Undefined: the rows are those of an earlier link, or none have arrived. */
  current: HostRows | undefined;
  problems: readonly HostDomainProblem[];
  /** When the rows were last known to be the host's; undefined while they are, and while there are none. */
  lostAtMs: number | undefined;
  error: InfraError | undefined;
}

const noRows: readonly InventoryRow[] = [];

export function createHostInventories({
  name,
  hosts,
  links,
}: Pick<Hub, "name" | "hosts" | "links">): HostInventories {
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
  function onLink(host: string, signal: AbortSignal): void {
    const link = links.find(host);
    const id = hosts.find(host)?.id;
    if (link !== undefined && id !== undefined && keptByHost.get(host)?.link !== link) {
      const kept = keptFor(host, id, link);
      const ended = followUntilLost(kept, link, signal).finally(() => following.delete(ended));
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

  function forgetRemoved(): void {
    for (const [host, kept] of keptByHost) {
      if (hosts.find(host)?.id !== kept.id) {
        kept.current?.release();
        keptByHost.delete(host);
      }
    }
    changed();
  }

  async function followUntilLost(kept: Kept, link: HostLink, signal: AbortSignal): Promise<void> {
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
  }

  /** Keeps what the host reports, and shows the rows of before until the whole state has arrived. */
  async function follow(kept: Kept, link: HostLink, signal: AbortSignal): Promise<void> {
    const client = createHostClient(link, InventoryService, hubAsCaller(name));
    kept.current?.release();
    kept.current = undefined;
    const rows = createHostRows(link.host, budget);
    try {
      for await (const message of client.watchResources({}, { signal })) {
        if (keptByHost.get(link.host) !== kept) {
          return;
        }
        rows.apply(message.changed, message.removed);
        if (message.synced) {
          kept.current = rows;
          kept.lostAtMs = undefined;
          kept.rows = rows.rows();
          kept.problems = hostProblemsFrom(message.problems);
          kept.error = rows.isIncomplete() ? incomplete(link.host) : undefined;
          changed();
        }
      }
    } finally {
      if (kept.current !== rows || keptByHost.get(link.host) !== kept) {
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
      const stops = [links.onChange((host) => onLink(host, closing.signal)), hosts.onChange(forgetRemoved)];
      for (const host of links.hosts()) {
        onLink(host, closing.signal);
      }
      return {
        async close() {
          for (const stop of stops) {
            stop();
          }
          closing.abort();
          await Promise.all(following);
        },
      };
    },
  };
}

function incomplete(host: string): InfraError {
  const message = `host ${host} has more or larger resources than a hub keeps (${hostRowsMax.rows} and ${hostRowsMax.bytes >> 20} MiB of a host, ${allRowsMax.rows} and ${allRowsMax.bytes >> 20} MiB of all hosts, ${rowMaxBytes >> 10} KiB each), so some are missing`;
  return new InfraError(inventoryReasons.HOST_INVENTORY_TOO_LARGE, message);
}
