import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import type { Snapshot } from "../../adapters/host/snapshot.ts";
import type { Store } from "../store/store.ts";
import type { ObservedChanges, ObservedSystem } from "./observed-system.ts";
import type { NewEvent } from "./store/events.ts";
import type { ObservedState } from "./store/observed-states.ts";

/** A period in which changes may have been missed, by the store's clock. */
interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
}

export interface SystemObserverOptions {
  readonly store: Pick<Store, "run">;
  /** Called for the first of consecutive failures of the system or the store; both are retried. */
  readonly onFailed: (error: unknown) => void;
  /** Delay before a retry after a failure. Default: 2 s. */
  readonly retryMs?: number;
  /** Interval at which an unchanged state is confirmed. Default: 1 min. */
  readonly confirmMs?: number;
}

export interface SystemObserver {
  /** Publishes the changes up to now if that takes at most 2 s, and stops. */
  close(): Promise<void>;
}

/** The stored state, as far as it is known here. */
interface Known<Observed> {
  readonly version: number;
  readonly observed: Observed | undefined;
  /** A state whose read began at this time (performance.now()) or later is at least as new as `observed`. */
  readonly asOfMs: number;
}

/** How long an observer that is being closed may still read. */
const lastReadMs = 2_000;

/**
 * Publishes each change of a system as events, whatever caused it and however many gateways observe the system. An update
 * contains the differences from the stored state and the new state, and is rejected if another gateway was faster.
 */
export function observeSystem<State, Observed, Difference = never, Change = never>(
  system: ObservedSystem<State, Observed, Difference, Change>,
  options: SystemObserverOptions,
): SystemObserver {
  const { source } = system;
  const { store, onFailed, retryMs = 2_000, confirmMs = 60_000 } = options;
  const closing = new AbortController();
  // Runs outside the triggering call's async context, so that traces do not attribute the read to that call.
  const outsideCalls = AsyncLocalStorage.snapshot();
  let known: Known<Observed> | undefined;
  let hasFailed = false;
  /** Why changes may have been missed; undefined once that is in `gap`. */
  let gapReason: string | undefined =
    `a gateway started to observe ${system.name}; earlier changes may have been missed`;
  /** Published with the next differences. */
  let gap: Gap | undefined;
  let refreshing: Promise<void> | undefined;
  let isRequested = false;
  let retryTimer: NodeJS.Timeout | undefined;

  async function readKnown(): Promise<Known<Observed>> {
    if (known === undefined || gapReason !== undefined) {
      const { observed, nowMs } = await store.run("observed.read", { source });
      known = knownFrom(observed);
      if (gapReason !== undefined && observed !== undefined) {
        // Recording that the system is unreadable is not a read, so it must not shorten an open gap.
        gap = { fromMs: gap?.fromMs ?? observed.observedAtMs, toMs: nowMs, reason: gapReason };
      }
      gapReason = undefined;
    }
    return known;
  }

  function knownFrom(observed: ObservedState | undefined): Known<Observed> {
    return {
      version: observed?.version ?? 0,
      observed: system.parse(observed?.state),
      asOfMs: performance.now(),
    };
  }

  /** @returns false when another gateway has published meanwhile, and the comparison must be repeated */
  async function write(
    before: Known<Observed>,
    changes: ObservedChanges<Observed>,
    asOfMs: number,
  ): Promise<boolean> {
    let { version } = before;
    const { observed, events } = changes;
    if (events.length > 0 || !isDeepStrictEqual(observed, before.observed)) {
      const written = await store.run("observed.write", { source, version, state: observed, events });
      if (!written.ok) {
        known = knownFrom(written.current);
        return false;
      }
      version = written.version;
    }
    known = { version, observed, asOfMs };
    return true;
  }

  async function publish(): Promise<boolean> {
    const before = await readKnown();
    let snapshot: Snapshot<State>;
    try {
      snapshot = await system.read(before.asOfMs, closing.signal);
    } catch (error) {
      const reason = `${system.name} could not be read: ${error instanceof Error ? error.message : String(error)}`;
      gapReason = reason;
      if (!closing.signal.aborted && system.changesWhenUnreadable !== undefined) {
        // The gap begins when the system was last read. The store has that time only until the loss is written.
        const last = await readKnown();
        const changes = system.changesWhenUnreadable(last.observed, error);
        if (changes !== undefined) {
          await write(last, changes, last.asOfMs);
        }
        gapReason = reason;
      }
      throw error;
    }
    const { value, readAtMs } = snapshot;
    const causeOf = (difference: Difference) => system.own?.find(difference, readAtMs);
    const { observed, events } = system.changes(before.observed, value, causeOf);
    const all = gap === undefined ? events : [...events, gapEvent(gap, system.gapOrigin)];
    if (!(await write(before, { observed, events: all }, readAtMs))) {
      return false;
    }
    system.own?.forget(readAtMs);
    gap = undefined;
    return true;
  }

  async function refreshWhileRequested(): Promise<void> {
    while (isRequested) {
      isRequested = false;
      try {
        const isPublished = await publish();
        isRequested = (isRequested || !isPublished) && !closing.signal.aborted;
        hasFailed = false;
      } catch (error) {
        if (closing.signal.aborted) {
          return;
        }
        if (!hasFailed) {
          onFailed(error);
        }
        // If a write's connection broke, the next read finds out from the version whether it was committed.
        hasFailed = true;
        retryTimer = setTimeout(refresh, retryMs).unref();
        return;
      }
    }
  }

  function refresh(): void {
    isRequested = !closing.signal.aborted;
    if (refreshing !== undefined || !isRequested) {
      return;
    }
    clearTimeout(retryTimer);
    refreshing = outsideCalls(refreshWhileRequested).finally(() => {
      refreshing = undefined;
      // After a failure, the timer starts the next read.
      if (isRequested && !hasFailed) {
        refresh();
      }
    });
  }

  async function confirm(): Promise<void> {
    if (known === undefined || hasFailed) {
      return;
    }
    const { version, asOfMs } = known;
    try {
      // The state of a system that stopped answering is unknown.
      await system.read(asOfMs, closing.signal);
      await store.run("observed.confirm", { source, version });
    } catch {
      // The next gap is then reported longer than it was.
    }
  }

  const unsubscribe = system.subscribe(refresh);
  const confirmTimer = setInterval(() => void confirm(), confirmMs).unref();
  refresh();

  return {
    async close() {
      unsubscribe();
      clearInterval(confirmTimer);
      const timer = setTimeout(() => closing.abort(), lastReadMs);
      if (!hasFailed) {
        refresh();
      }
      while (refreshing !== undefined) {
        await refreshing;
      }
      clearTimeout(retryTimer);
      if (!closing.signal.aborted) {
        await confirm();
        closing.abort();
      }
      clearTimeout(timer);
    },
  };
}

/** Builds a gap event. Its payload is the JSON of hostplane.v1.Event, reduced to its detail. */
function gapEvent(
  { fromMs, toMs, reason }: Gap,
  origin: ObservedSystem<unknown, unknown>["gapOrigin"],
): NewEvent {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  return { ...origin, type: "gap", payload: { gap: { from, to, reason } } };
}
