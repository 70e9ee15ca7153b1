import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import type { Snapshot } from "../../../../adapters/host/snapshot.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { ObservedState } from "../../../store/observed-states.ts";
import type { Store } from "../../../store/store.ts";
import { type ObservedVolumes, parseObservedVolumes } from "./observed-volumes.ts";
import type { OwnChanges } from "./own-changes.ts";
import { type TellOptions, tellVolumes } from "./tell-volumes.ts";
import { type Gap, gapEvent } from "./volume-events.ts";

/** What `observeVolumeChanges` needs. */
export interface VolumeObserverOptions extends Omit<TellOptions, "own"> {
  readonly store: Pick<Store, "run">;
  /** LVM, and what this gateway itself does with it. */
  readonly own: OwnChanges;
  /** Called when LVM or the store failed, for the first time in a row; both are tried again. */
  readonly onFailed: (error: unknown) => void;
  /** After so long a failure is tried again; 2 s if absent. */
  readonly retryMs?: number;
  /** How often it is noted that nothing has changed; every minute if absent. */
  readonly confirmMs?: number;
}

export interface VolumeObserver {
  /** Tells what has changed until now, as far as that takes no longer than 2 s, and ends. */
  close(): Promise<void>;
}

/** What the store has, as far as it is known here. */
interface Known {
  readonly version: number;
  readonly observed: ObservedVolumes | undefined;
  /** A state whose read began then (performance.now()) or later is no older than `observed`. */
  readonly asOfMs: number;
}

/** How long an observer that is closed may still look. */
const lastLookMs = 2_000;

/**
 * Tells each change of LVM as events, whoever makes it and however many gateways of the host tell of the same: what has
 * changed since the state that the store has, together with the new state, and only if no other gateway was faster.
 */
export function observeVolumeChanges(options: VolumeObserverOptions): VolumeObserver {
  const { store, own, host, onFailed, retryMs = 2_000, confirmMs = 60_000 } = options;
  const { lvm } = own;
  const source = `${lvm.kind === "sandbox" ? "sandbox-" : ""}lvm/${host}`;
  const closing = new AbortController();
  // What begins a look is often a call, as whose work it is not to be told.
  const outsideCalls = AsyncLocalStorage.snapshot();
  let known: Known | undefined;
  /** When the read of the last state began whose differences are told, by this gateway or others. */
  let toldAsOfMs = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  /** Why changes may have been made that nobody saw; undefined once that is in `gap`. */
  let gapReason: string | undefined = "a gateway has begun to watch LVM, and perhaps none did before";
  /** To be told with the next differences. */
  let gap: Gap | undefined;
  let looking: Promise<void> | undefined;
  let isWanted = false;
  let retryTimer: NodeJS.Timeout | undefined;

  async function readState(sinceMs: number): Promise<Snapshot<LvmState>> {
    try {
      const snapshot = await lvm.read(closing.signal);
      return snapshot.readAtMs >= sinceMs ? snapshot : await lvm.refresh(closing.signal);
    } catch (error) {
      gapReason ??= `LVM could not be read: ${error instanceof Error ? error.message : String(error)}`;
      throw error;
    }
  }

  /** @returns false when another gateway has told something meanwhile, and all is to be compared anew */
  async function tell(): Promise<boolean> {
    if (known === undefined || gapReason !== undefined) {
      const { observed, nowMs } = await store.run("observed.read", { source });
      known = knownFrom(observed);
      if (gapReason !== undefined && observed !== undefined) {
        gap = { fromMs: observed.observedAtMs, toMs: nowMs, reason: gapReason };
      }
      gapReason = undefined;
    }
    own.forget(toldAsOfMs);
    const { value, readAtMs } = await readState(known.asOfMs);
    const { observed, events } = tellVolumes(known.observed, value, options);
    const all = gap === undefined ? events : [...events, gapEvent(gap, options)];
    let { version } = known;
    if (all.length > 0 || !isDeepStrictEqual(observed, known.observed)) {
      const written = await store.run("observed.write", { source, version, state: observed, events: all });
      if (!written.ok) {
        known = knownFrom(written.current);
        return false;
      }
      version = written.version;
    }
    known = { version, observed, asOfMs: readAtMs };
    toldAsOfMs = readAtMs;
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
    if (known !== undefined && !hasFailed) {
      // When it fails, the next gap is told longer than it was.
      await store.run("observed.confirm", { source, version: known.version }).catch(() => {});
    }
  }

  const unsubscribe = lvm.subscribe(look);
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
      clearTimeout(timer);
      clearTimeout(retryTimer);
      if (!closing.signal.aborted) {
        await confirm();
        closing.abort();
      }
    },
  };
}

function knownFrom(observed: ObservedState | undefined): Known {
  return {
    version: observed?.version ?? 0,
    observed: parseObservedVolumes(observed?.state),
    asOfMs: performance.now(),
  };
}
