import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import type { Snapshot } from "../../adapters/host/snapshot.ts";
import type { NewEvent } from "../store/events.ts";
import type { ObservedState } from "../store/observed-states.ts";
import type { Store } from "../store/store.ts";

/** A time in which changes may have been made that nobody saw, by the store's clock. */
interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
}

/** What has happened since the last time, and what to compare with the next time. */
export interface Told<Observed> {
  readonly observed: Observed;
  readonly events: readonly NewEvent[];
}

/** A system that is watched, and how what happens to it is told. */
export interface ObservedSystem<State, Observed> {
  /** What the store calls it, e.g. `lvm/host-1`. */
  readonly source: string;
  /** What people call it, e.g. `LVM`. */
  readonly name: string;
  /** Calls back when the state may have changed, and when it begins or ceases to be readable. */
  subscribe(onChange: () => void): () => void;
  /** The newest state, which is no older than `sinceMs` (performance.now()). */
  read(sinceMs: number, signal: AbortSignal): Promise<Snapshot<State>>;
  /** Reads what was kept; undefined when it is not understood. */
  parse(json: unknown): Observed | undefined;
  /**
   * @param before undefined: nothing was ever told, or it is not understood
   * @param readAtMs when the read of the state began (performance.now())
   */
  tell(before: Observed | undefined, state: State, readAtMs: number): Told<Observed>;
  /** What is told when it cannot be read; absent where that changes nothing. It is tried again in any case. */
  tellUnreadable?(before: Observed | undefined, error: unknown): Told<Observed> | undefined;
  /** Of the event that tells that changes may have been made which nobody saw. */
  readonly gapOrigin: Pick<NewEvent, "topic" | "resource" | "host" | "services">;
  /** All is told that a read that began at that time (performance.now()) has shown. */
  onTold?(readAtMs: number): void;
}

export interface SystemObserverOptions {
  readonly store: Pick<Store, "run">;
  /** Called when the system or the store failed, for the first time in a row; both are tried again. */
  readonly onFailed: (error: unknown) => void;
  /** After so long a failure is tried again; 2 s if absent. */
  readonly retryMs?: number;
  /** How often it is noted that nothing has changed; every minute if absent. */
  readonly confirmMs?: number;
}

export interface SystemObserver {
  /** Tells what has changed until now, as far as that takes no longer than 2 s, and ends. */
  close(): Promise<void>;
}

/** What the store has, as far as it is known here. */
interface Known<Observed> {
  readonly version: number;
  readonly observed: Observed | undefined;
  /** A state whose read began then (performance.now()) or later is no older than `observed`. */
  readonly asOfMs: number;
}

/** How long an observer that is closed may still look. */
const lastLookMs = 2_000;

/**
 * Tells each change of a system as events, whoever makes it and however many gateways tell of the same: what has changed
 * since the state that the store has, together with the new state, and only if no other gateway was faster.
 */
export function observeSystem<State, Observed>(
  system: ObservedSystem<State, Observed>,
  options: SystemObserverOptions,
): SystemObserver {
  const { source } = system;
  const { store, onFailed, retryMs = 2_000, confirmMs = 60_000 } = options;
  const closing = new AbortController();
  // What begins a look is often a call, as whose work it is not to be told.
  const outsideCalls = AsyncLocalStorage.snapshot();
  let known: Known<Observed> | undefined;
  let hasFailed = false;
  /** Why changes may have been made that nobody saw; undefined once that is in `gap`. */
  let gapReason: string | undefined =
    `a gateway has begun to watch ${system.name}, and perhaps none did before`;
  /** To be told with the next differences. */
  let gap: Gap | undefined;
  let looking: Promise<void> | undefined;
  let isWanted = false;
  let retryTimer: NodeJS.Timeout | undefined;

  async function readKnown(): Promise<Known<Observed>> {
    if (known === undefined || gapReason !== undefined) {
      const { observed, nowMs } = await store.run("observed.read", { source });
      known = knownFrom(observed);
      if (gapReason !== undefined && observed !== undefined) {
        // What is noted while it cannot be read is no look, and does not make an open gap shorter.
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

  /** @returns false when another gateway has told something meanwhile, and all is to be compared anew */
  async function write(before: Known<Observed>, told: Told<Observed>, asOfMs: number): Promise<boolean> {
    let { version } = before;
    const { observed, events } = told;
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

  async function tell(): Promise<boolean> {
    const before = await readKnown();
    let snapshot: Snapshot<State>;
    try {
      snapshot = await system.read(before.asOfMs, closing.signal);
    } catch (error) {
      const reason = `${system.name} could not be read: ${error instanceof Error ? error.message : String(error)}`;
      gapReason = reason;
      if (!closing.signal.aborted && system.tellUnreadable !== undefined) {
        // The gap begins when the system was last seen, which the store only knows until the loss is noted.
        const last = await readKnown();
        const told = system.tellUnreadable(last.observed, error);
        if (told !== undefined) {
          await write(last, told, last.asOfMs);
        }
        gapReason = reason;
      }
      throw error;
    }
    const { value, readAtMs } = snapshot;
    const { observed, events } = system.tell(before.observed, value, readAtMs);
    const all = gap === undefined ? events : [...events, gapEvent(gap, system.gapOrigin)];
    if (!(await write(before, { observed, events: all }, readAtMs))) {
      return false;
    }
    system.onTold?.(readAtMs);
    gap = undefined;
    return true;
  }

  async function lookWhileWanted(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      try {
        const isTold = await tell();
        isWanted = (isWanted || !isTold) && !closing.signal.aborted;
        hasFailed = false;
      } catch (error) {
        if (closing.signal.aborted) {
          return;
        }
        if (!hasFailed) {
          onFailed(error);
        }
        // Whether a write whose connection broke was kept, the next look finds out by its version.
        hasFailed = true;
        retryTimer = setTimeout(look, retryMs).unref();
        return;
      }
    }
  }

  function look(): void {
    isWanted = !closing.signal.aborted;
    if (looking !== undefined || !isWanted) {
      return;
    }
    clearTimeout(retryTimer);
    looking = outsideCalls(lookWhileWanted).finally(() => {
      looking = undefined;
      // After a failure the timer looks.
      if (isWanted && !hasFailed) {
        look();
      }
    });
  }

  async function confirm(): Promise<void> {
    if (known === undefined || hasFailed) {
      return;
    }
    const { version, asOfMs } = known;
    try {
      // Of a system that has fallen silent it is not known.
      await system.read(asOfMs, closing.signal);
      await store.run("observed.confirm", { source, version });
    } catch {
      // The next gap is told longer than it was.
    }
  }

  const unsubscribe = system.subscribe(look);
  const confirmTimer = setInterval(() => void confirm(), confirmMs).unref();
  look();

  return {
    async close() {
      unsubscribe();
      clearInterval(confirmTimer);
      const timer = setTimeout(() => closing.abort(), lastLookMs);
      if (!hasFailed) {
        look();
      }
      while (looking !== undefined) {
        await looking;
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

/** Its payload is the JSON of hostplane.v1.Event with its detail alone. */
function gapEvent(
  { fromMs, toMs, reason }: Gap,
  origin: ObservedSystem<unknown, unknown>["gapOrigin"],
): NewEvent {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  return { ...origin, type: "gap", payload: { gap: { from, to, reason } } };
}
