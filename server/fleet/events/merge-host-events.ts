import type { Store } from "../../store/store.ts";
import type { CertifiedHost } from "../authority/issue-certificate.ts";
import type { Hub } from "../hub/hub.ts";
import type { HostLink } from "../links/host-link.ts";
import { createEventBudget, type EventBudget, hostBudget } from "./event-budget.ts";
import { followHost } from "./follow-host.ts";

export interface MergeHostEventsOptions {
  readonly hub: Pick<Hub, "name" | "hosts" | "links">;
  readonly store: Pick<Store, "run">;
  /** ID of this process; never reused. */
  readonly instanceId: string;
  readonly log: { warn(message: string, cause?: unknown): void };
  /** How long a host may be away before it is reported as lost. Default: 5 s, in which an agent connects to a hub again. */
  readonly graceMs?: number;
}

/** Merges the events of all connected hosts into the hub's log, and reports which hosts are lost. */
export interface HostEventMerge {
  close(): Promise<void>;
}

/** A hub that has not extended its leases for this long no longer follows hosts. */
const leaseMs = 15_000;
const tendEveryMs = 2500;

/** Follows the events of each connected host. Of hubs that share a store, the one that holds a host's lease follows it. */
export function mergeHostEvents(options: MergeHostEventsOptions): HostEventMerge {
  const { hub, store, instanceId: owner, log, graceMs = 5000 } = options;
  const closing = new AbortController();
  /** The connections that are followed, by ID of the host. */
  const followed = new Map<string, { readonly link: HostLink; readonly ended: Promise<void> }>();
  /** By ID of the host. Budgets outlive connections, so that a host cannot refill its own by connecting again. */
  const budgets = new Map<string, EventBudget>();

  function budgetOf({ name, id }: CertifiedHost): EventBudget {
    const onWait = () => log.warn(`host ${name} has more events than the hub merges; they are delayed`);
    const budget = budgets.get(id) ?? createEventBudget({ ...hostBudget, onWait });
    budgets.set(id, budget);
    return budget;
  }

  function follow(name: string): void {
    const link = hub.links.find(name);
    const host = hub.hosts.find(name);
    const last = host && followed.get(host.id);
    if (link === undefined || host === undefined || last?.link === link || closing.signal.aborted) {
      return;
    }
    const onFailed = (error: unknown) =>
      log.warn(`the events of host ${name} cannot be followed; retrying`, error);
    const parts = { link, host, hub: hub.name, owner, store, budget: budgetOf(host), leaseMs, onFailed };
    const signal = AbortSignal.any([link.closed, closing.signal]);
    // The end of an earlier connection releases the host; it must not be claimed for this one before that.
    const ended = (last?.ended ?? Promise.resolve()).then(() => followHost(parts, signal));
    followed.set(host.id, { link, ended });
  }

  function followAll(): void {
    const ids = new Set(hub.hosts.list().map(({ id }) => id));
    for (const id of budgets.keys()) {
      if (!ids.has(id)) {
        budgets.delete(id);
        followed.delete(id);
      }
    }
    for (const name of hub.links.hosts()) {
      follow(name);
    }
  }

  const connectedIds = () => [...followed].flatMap(([id, { link }]) => (link.closed.aborted ? [] : [id]));
  const stops = [hub.links.onChange(follow), hub.hosts.onChange(followAll)];
  const stopTending = tendHosts(options, connectedIds, graceMs);
  followAll();

  return {
    async close() {
      for (const stop of stops) {
        stop();
      }
      await stopTending();
      closing.abort();
      await Promise.all([...followed.values()].map(({ ended }) => ended));
    },
  };
}

/** Extends the leases of the connected hosts again and again, and reports hosts that are lost. @returns a function that stops it */
function tendHosts(
  { hub, store, instanceId: owner, log }: MergeHostEventsOptions,
  connectedIds: () => readonly string[],
  graceMs: number,
): () => Promise<void> {
  /** Leases may have expired while this hub or the store did not work, and each host needs a while to connect. */
  let unsureUntilMs = performance.now() + 2 * graceMs;
  let hasFailed = false;
  let tending: Promise<void> | undefined;

  async function tend(): Promise<void> {
    const isSure = performance.now() > unsureUntilMs;
    try {
      await store.run("fleet.tendHosts", {
        owner,
        hostIds: connectedIds(),
        leaseMs,
        graceMs: isSure ? graceMs : Number.MAX_SAFE_INTEGER / 2,
      });
      hasFailed = false;
    } catch (error) {
      unsureUntilMs = performance.now() + 2 * graceMs;
      if (!hasFailed) {
        log.warn("the hub cannot record which hosts it follows; retrying", error);
      }
      hasFailed = true;
    }
  }

  const timer = setInterval(() => {
    if (hub.hosts.list().length > 0) {
      tending ??= tend().finally(() => {
        tending = undefined;
      });
    }
  }, tendEveryMs).unref();
  return async () => {
    clearInterval(timer);
    await tending;
  };
}
