import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import { InfraError } from "../host/infra-error.ts";
import { snapshotChannel } from "../host/observation.ts";
import type { Snapshot } from "../host/snapshot.ts";
import { cephReasons } from "./reasons.ts";

export interface RefreshOptions<T> {
  /** The system's name, for observers. */
  readonly system: string;
  /** Loads the value. Never runs twice at once. */
  readonly load: () => Promise<T>;
  /** Intervals of loading, with and without a watching reader. */
  readonly watchedMs: number;
  readonly idleMs: number;
  /** Maximum age of a value that cannot be refreshed before reads fail. */
  readonly keepMs: number;
}

export interface Refreshed<T> extends Snapshot<T> {
  /** Why there is no newer value; undefined when the last load succeeded. */
  readonly staleBecause: string | undefined;
}

/** Properties of a reader or subscriber. */
export interface Reader {
  /** Whether the value is loaded more often for this reader; true by default. */
  readonly isWatching?: boolean;
}

export interface Refresh<T> {
  /** @throws what `load` throws while there is no value recent enough, and the signal's reason */
  read(signal?: AbortSignal, reader?: Reader): Promise<Refreshed<T>>;
  subscribe(onChange: () => void, reader?: Reader): () => void;
  /** Resolves once a load that began after this call has ended, whether it succeeded or not. */
  renew(): Promise<void>;
  close(): void;
}

// Time after a read during which a reader counts as watching.
const lingerMs = 15_000;
/** Maximum time that a reader waits for a newer value if nothing was watching before. */
const readerPatienceMs = 500;

/**
 * Loads a value periodically for all readers. Reads do not trigger loads, so a thousand reads per second cost as much
 * as one. A value that nothing watches is loaded less often.
 */
export function createRefresh<T>(options: RefreshOptions<T>): Refresh<T> {
  const { system, load, watchedMs, idleMs, keepMs } = options;
  const listeners = new Set<{ readonly onChange: () => void; readonly isWatching: boolean }>();
  let latest: Snapshot<T> | undefined;
  let failure: unknown;
  let loading: Promise<void> | undefined;
  let lastLoadAtMs = Number.NEGATIVE_INFINITY;
  let lastReadAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  // Loads must not be attributed to the call that happens to be running.
  const outsideCalls = AsyncLocalStorage.snapshot();

  function schedule(): void {
    clearTimeout(timer);
    if (isClosed || loading !== undefined) {
      return;
    }
    const isWatched =
      performance.now() - lastReadAtMs < lingerMs || [...listeners].some(({ isWatching }) => isWatching);
    const nextAtMs = lastLoadAtMs + (isWatched ? watchedMs : idleMs);
    timer = setTimeout(begin, Math.max(0, nextAtMs - performance.now())).unref();
  }

  function begin(): Promise<void> {
    clearTimeout(timer);
    lastLoadAtMs = performance.now();
    loading ??= outsideCalls(loadOnce).finally(() => {
      loading = undefined;
      schedule();
    });
    return loading;
  }

  async function loadOnce(): Promise<void> {
    const readAtMs = performance.now();
    const failedBefore = failure !== undefined;
    const before = latest;
    try {
      const value = await snapshotChannel.tracePromise(load, { system });
      failure = undefined;
      const isSame = before !== undefined && isDeepStrictEqual(before.value, value);
      latest = isSame ? { ...before, readAtMs } : { value, revision: (before?.revision ?? 0) + 1, readAtMs };
    } catch (error) {
      failure = error;
    }
    const hasFailed = failure !== undefined;
    // The first value is not a change; its readers wait for it in `read`.
    if (hasFailed !== failedBefore || (before !== undefined && latest?.revision !== before.revision)) {
      for (const { onChange } of [...listeners]) {
        onChange();
      }
    }
  }

  function ageMs(): number {
    return performance.now() - (latest?.readAtMs ?? Number.NEGATIVE_INFINITY);
  }

  async function awaitNewer(signal: AbortSignal | undefined): Promise<void> {
    const { promise: left, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const patience = latest === undefined ? undefined : setTimeout(resolve, readerPatienceMs);
    try {
      await Promise.race([loading ?? begin(), left]);
    } finally {
      clearTimeout(patience);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  return {
    async read(signal, { isWatching = true } = {}) {
      signal?.throwIfAborted();
      const wasIdle = performance.now() - lastReadAtMs > watchedMs;
      if (isWatching) {
        lastReadAtMs = performance.now();
      }
      if (isWatching && wasIdle) {
        schedule();
      }
      const isOld = isWatching ? ageMs() > 2 * watchedMs : latest === undefined;
      if (failure === undefined && isOld) {
        await awaitNewer(signal);
      }
      if (latest === undefined || ageMs() > keepMs) {
        throw failure ?? new InfraError(cephReasons.CEPH_UNAVAILABLE, "Ceph did not answer in time");
      }
      return { ...latest, staleBecause: failure instanceof Error ? failure.message : undefined };
    },
    subscribe(onChange, { isWatching = true } = {}) {
      // Wrapped, so that a listener added twice counts twice.
      const entry = { onChange, isWatching };
      listeners.add(entry);
      schedule();
      return () => {
        listeners.delete(entry);
        schedule();
      };
    },
    async renew() {
      await loading;
      await begin();
    },
    close() {
      isClosed = true;
      listeners.clear();
      clearTimeout(timer);
    },
  };
}
