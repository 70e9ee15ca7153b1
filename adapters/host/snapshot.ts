import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import { snapshotChannel } from "./observation.ts";

/** A value read from a system, and how old it is. */
export interface Snapshot<T> {
  readonly value: T;
  /** Grows by one each time the value differs from the one before. */
  readonly revision: number;
  /** When the read that produced it began (performance.now(), milliseconds). */
  readonly readAtMs: number;
}

export interface SnapshotCacheOptions<T> {
  /** The system's name, for observers; `system` unless told. */
  readonly system?: string;
  /**
   * Reads the system. Never called twice at once. The signal is aborted when every reader that waits for it has
   * left and nobody subscribes: it may then stop and throw.
   */
  readonly load: (signal: AbortSignal) => Promise<T>;
  /** Whether two values are the same to a reader; deep equality unless told. */
  readonly equal?: (a: T, b: T) => boolean;
  /**
   * After a load that failed: for so long reads get the same error without another load, and when it is
   * over a load is tried again if anybody subscribes. 2,000 unless told.
   */
  readonly retryMs?: number;
  /** How old a value may be that `readRecent` returns while the next one is loaded; 0 unless told. */
  readonly recentMs?: number;
}

export interface SnapshotCache<T> {
  /**
   * The newest value. Never one whose load began before an `invalidate` that came before this call. Waits for
   * two loads at most: one that began too early, and the next.
   * @param signal a reader that leaves; one without a signal stays
   * @throws what `load` throws, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<T>>;
  /**
   * The value that is there if its load began at most `recentMs` ago, though an `invalidate` came after that: the next is
   * then loaded, and nobody waits for it. As `read` where there is none so new, or the last load has failed.
   */
  readRecent(signal?: AbortSignal): Promise<Snapshot<T>>;
  /**
   * Makes the value stale. It is loaded again at once if anybody subscribes, else by the next read. Does
   * nothing if the change happened at `changedAtMs` (performance.now()) and a load has begun since.
   */
  invalidate(changedAtMs?: number): void;
  /**
   * Calls back when the value has changed, and when loads begin or cease to fail. The
   * listener must not throw. Returns the function that ends it.
   */
  subscribe(listener: () => void): () => void;
  /** Ends all subscriptions and retries. Reads still work. */
  close(): void;
}

/** Shares one value of a system among all readers: however many read at once, one load runs. */
export function createSnapshotCache<T>(options: SnapshotCacheOptions<T>): SnapshotCache<T> {
  const { system = "system", load, equal = isDeepStrictEqual, retryMs = 2_000, recentMs = 0 } = options;
  const listeners = new Set<() => void>();
  // Each invalidate begins a new generation; a load serves the readers of the generation it began in.
  let generation = 0;
  let latest: { readonly snapshot: Snapshot<T>; readonly generation: number } | undefined;
  let failed:
    | { readonly error: unknown; readonly generation: number; readonly retryAtMs: number }
    | undefined;
  let loading:
    | { readonly promise: Promise<Snapshot<T>>; readonly generation: number; readonly stop: AbortController }
    | undefined;
  /** Readers that wait for the load that runs or for the next. */
  let waiting = 0;
  let lastLoadBeganAtMs = Number.NEGATIVE_INFINITY;
  let queued: Promise<Snapshot<T>> | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  // A retry outlives the call whose load failed, and is not to be told as that call's work.
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
    const failedBefore = failed !== undefined;
    let value: T;
    try {
      value = await snapshotChannel.tracePromise(async () => load(signal), { system });
    } catch (error) {
      loading = undefined;
      if (signal.aborted) {
        // Stopped for want of readers, which says nothing of the system.
        throw error;
      }
      failed = { error, generation: loadGeneration, retryAtMs: performance.now() + retryMs };
      scheduleRetry();
      // Only the first of a row is told: a listener that answers with a read must not spin.
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
    loading = undefined;
    failed = undefined;
    // The first value is no change: whoever wants it reads, and would be woken by its own read.
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

  function stopUnwantedLoad(): void {
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
      stopUnwantedLoad();
    }
  }

  async function readRecent(signal?: AbortSignal): Promise<Snapshot<T>> {
    if (
      latest === undefined ||
      failed !== undefined ||
      performance.now() - latest.snapshot.readAtMs >= recentMs
    ) {
      return read(signal);
    }
    signal?.throwIfAborted();
    const isNextOnItsWay = queued !== undefined || loading?.generation === generation;
    if (latest.generation !== generation && !isNextOnItsWay) {
      // It is somebody's to wait for until it has ended: one that nobody waits for is stopped.
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
        stopUnwantedLoad();
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

  function refresh(): void {
    // The failure reaches the listeners, and whoever reads.
    if (listeners.size > 0) {
      read().catch(() => {});
    }
  }

  function retry(): void {
    // A timer may fire a little before its time.
    if (failed !== undefined) {
      failed = { ...failed, retryAtMs: 0 };
    }
    refresh();
  }

  function scheduleRetry(): void {
    clearTimeout(retryTimer);
    if (listeners.size > 0) {
      retryTimer = outsideCalls(() => setTimeout(retry, retryMs).unref());
    }
  }

  return {
    read,
    readRecent,
    invalidate(changedAtMs) {
      if (changedAtMs !== undefined && lastLoadBeganAtMs > changedAtMs) {
        return;
      }
      generation += 1;
      refresh();
    },
    subscribe(listener) {
      // Its own function, so that one listener given twice counts twice.
      const entry = () => listener();
      listeners.add(entry);
      if (failed !== undefined) {
        scheduleRetry();
      }
      return () => {
        listeners.delete(entry);
        stopUnwantedLoad();
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
