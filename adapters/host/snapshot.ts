import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import { snapshotChannel } from "./observation.ts";

/** A value read from a system, and its age. */
export interface Snapshot<T> {
  readonly value: T;
  /** Increases by one each time the value changes. */
  readonly revision: number;
  /** When the read that produced it began (performance.now(), milliseconds). */
  readonly readAtMs: number;
}

export interface SnapshotCacheOptions<T> {
  /** The system's name, for observers; `system` by default. */
  readonly system?: string;
  /**
   * Reads the system. Never runs twice at once. The signal is aborted when every reader that waits for it has left and
   * there are no subscribers; `load` may then stop and throw.
   */
  readonly load: (signal: AbortSignal) => Promise<T>;
  /** Reports whether two values are the same to a reader; deep equality by default. */
  readonly equal?: (a: T, b: T) => boolean;
  /**
   * Time after a failed load during which reads get the same error without another load. When it is over, the load is
   * retried if there are subscribers. 2,000 by default.
   */
  readonly retryMs?: number;
  /** How long `readRecent` may return a stale value while the next one is loaded; 0 by default. */
  readonly recentMs?: number;
}

export interface SnapshotCache<T> {
  /**
   * Returns the current value, never one whose load began before an earlier `invalidate`. Waits for two loads at most:
   * one that began too early, and the next.
   * @param signal aborts this reader's wait
   * @throws what `load` throws, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<T>>;
  /**
   * Returns the cached value if it is current, or stale for at most `recentMs`; the next load then starts in the
   * background. Otherwise, and after a failed load, works like `read`.
   */
  readRecent(signal?: AbortSignal): Promise<Snapshot<T>>;
  /** Works like `read`, with a load that begins after this call. */
  refresh(signal?: AbortSignal): Promise<Snapshot<T>>;
  /**
   * Marks the value as stale since `changedAtMs` (performance.now(); now by default). It is loaded again at once if
   * there are subscribers, else by the next read. Does nothing if a load has begun since `changedAtMs`.
   */
  invalidate(changedAtMs?: number): void;
  /**
   * Calls back when the value has changed, and when loads start or stop failing. The listener must not throw. Returns a
   * function that unsubscribes.
   */
  subscribe(listener: () => void): () => void;
  /** Ends all subscriptions and retries. Reads still work. */
  close(): void;
}

/** Caches one value of a system for all readers: concurrent reads share one load. */
export function createSnapshotCache<T>(options: SnapshotCacheOptions<T>): SnapshotCache<T> {
  const { system = "system", load, equal = isDeepStrictEqual, retryMs = 2_000, recentMs = 0 } = options;
  const listeners = new Set<() => void>();
  // Each invalidation starts a new generation; a load serves the readers of the generation in which it began.
  let generation = 0;
  let latest: { readonly snapshot: Snapshot<T>; readonly generation: number } | undefined;
  /** Time of the first change that the latest value lacks, and of the first one since the last load began. */
  let staleSinceMs: number | undefined;
  let changedSinceLoadMs: number | undefined;
  let failed:
    | { readonly error: unknown; readonly generation: number; readonly retryAtMs: number }
    | undefined;
  let loading:
    | { readonly promise: Promise<Snapshot<T>>; readonly generation: number; readonly stop: AbortController }
    | undefined;
  /** Number of readers that wait for the current load or the next one. */
  let waiting = 0;
  let lastLoadBeganAtMs = Number.NEGATIVE_INFINITY;
  let queued: Promise<Snapshot<T>> | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  // A retry outlives the call whose load failed, so its work must not be attributed to that call.
  const outsideCalls = AsyncLocalStorage.snapshot();

  function notify(): void {
    for (const listener of [...listeners]) {
      listener();
    }
  }

  async function loadOnce(signal: AbortSignal): Promise<Snapshot<T>> {
    const loadGeneration = generation;
    const readAtMs = performance.now();
    lastLoadBeganAtMs = readAtMs;
    changedSinceLoadMs = undefined;
    const failedBefore = failed !== undefined;
    let value: T;
    try {
      value = await snapshotChannel.tracePromise(async () => load(signal), { system });
    } catch (error) {
      loading = undefined;
      if (signal.aborted) {
        // Stopped because no reader was left, which is not a failure of the system.
        throw error;
      }
      failed = { error, generation: loadGeneration, retryAtMs: performance.now() + retryMs };
      scheduleRetry();
      // Listeners are called for the first of consecutive failures only: one that reads in response must not loop.
      if (!failedBefore) {
        notify();
      }
      throw error;
    }
    const before = latest?.snapshot;
    const same = before !== undefined && equal(before.value, value);
    const snapshot = same
      ? { ...before, readAtMs }
      : { value, revision: (before?.revision ?? 0) + 1, readAtMs };
    latest = { snapshot, generation: loadGeneration };
    staleSinceMs = changedSinceLoadMs;
    loading = undefined;
    failed = undefined;
    // The first value is not a change: its reader would be notified of its own read.
    if ((before !== undefined && !same) || failedBefore) {
      notify();
    }
    return snapshot;
  }

  function begin(): Promise<Snapshot<T>> {
    clearTimeout(retryTimer);
    const stop = new AbortController();
    const promise = loadOnce(stop.signal);
    loading = { promise, generation, stop };
    return promise;
  }

  function stopUnneededLoad(): void {
    if (waiting === 0 && listeners.size === 0) {
      loading?.stop.abort();
    }
  }

  async function read(signal?: AbortSignal): Promise<Snapshot<T>> {
    signal?.throwIfAborted();
    if (latest?.generation === generation) {
      return latest.snapshot;
    }
    waiting += 1;
    try {
      return await (signal === undefined ? newest() : untilAborted(newest(), signal));
    } finally {
      waiting -= 1;
      stopUnneededLoad();
    }
  }

  async function readRecent(signal?: AbortSignal): Promise<Snapshot<T>> {
    const isTooOld = staleSinceMs !== undefined && performance.now() - staleSinceMs >= recentMs;
    if (latest === undefined || failed !== undefined || isTooOld) {
      return read(signal);
    }
    signal?.throwIfAborted();
    const isNextOnItsWay = queued !== undefined || loading?.generation === generation;
    if (latest.generation !== generation && !isNextOnItsWay) {
      // Waits for the load, since a load without readers is stopped.
      read().catch(() => {});
    }
    return latest.snapshot;
  }

  function newest(): Promise<Snapshot<T>> {
    if (latest?.generation === generation) {
      return Promise.resolve(latest.snapshot);
    }
    if (queued !== undefined) {
      return queued;
    }
    if (loading?.generation === generation && !loading.stop.signal.aborted) {
      return loading.promise;
    }
    if (loading !== undefined) {
      const next = () => {
        queued = undefined;
        const promise = begin();
        stopUnneededLoad();
        return promise;
      };
      queued = loading.promise.then(next, next);
      return queued;
    }
    if (failed?.generation === generation && performance.now() < failed.retryAtMs) {
      return Promise.reject(failed.error);
    }
    return begin();
  }

  function loadForListeners(): void {
    // The failure reaches the listeners and the next readers.
    if (listeners.size > 0) {
      read().catch(() => {});
    }
  }

  function retry(): void {
    // A timer may fire slightly early.
    if (failed !== undefined) {
      failed = { ...failed, retryAtMs: 0 };
    }
    loadForListeners();
  }

  function scheduleRetry(): void {
    clearTimeout(retryTimer);
    if (listeners.size > 0) {
      retryTimer = outsideCalls(() => setTimeout(retry, retryMs).unref());
    }
  }

  function invalidate(changedAtMs = performance.now()): void {
    if (lastLoadBeganAtMs > changedAtMs) {
      return;
    }
    generation += 1;
    staleSinceMs ??= changedAtMs;
    changedSinceLoadMs ??= changedAtMs;
    loadForListeners();
  }

  return {
    read,
    readRecent,
    refresh(signal) {
      invalidate();
      return read(signal);
    },
    invalidate,
    subscribe(listener) {
      // Wrapped, so that a listener added twice counts twice.
      const entry = () => listener();
      listeners.add(entry);
      if (failed !== undefined) {
        scheduleRetry();
      }
      return () => {
        listeners.delete(entry);
        stopUnneededLoad();
        if (listeners.size === 0) {
          clearTimeout(retryTimer);
        }
      };
    },
    close() {
      listeners.clear();
      clearTimeout(retryTimer);
    },
  };
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
