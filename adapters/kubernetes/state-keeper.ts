import { isDeepStrictEqual } from "node:util";
import { InfraError } from "../host/infra-error.ts";
import type { KubernetesSnapshot, KubernetesState } from "./adapter.ts";
import { untilAborted } from "./until-aborted.ts";

export interface StateKeeperOptions {
  /** The state as it is now; undefined while there is none. Costs nothing but time. */
  readonly load: () => KubernetesState | undefined;
  /** How long after the cluster was last heard readers are refused. */
  readonly keepMs: number;
}

export interface StateKeeper {
  /** @throws InfraError KUBERNETES_UNAVAILABLE or why the cluster was not heard for `keepMs`, and the signal's reason */
  read(signal?: AbortSignal): Promise<KubernetesSnapshot>;
  subscribe(onChange: () => void): () => void;
  /** The state may be another. */
  setChanged(): void;
  /** @param heardAtMs when the cluster last answered (performance.now()) */
  setHeard(error: InfraError | undefined, heardAtMs: number): void;
  close(): void;
}

// What happens within so long is told as one change.
const gatherMs = 20;

/** Keeps the state that watches bring for readers and subscribers, and knows for how long it may be told. */
export function createStateKeeper({ load, keepMs }: StateKeeperOptions): StateKeeper {
  const listeners = new Set<() => void>();
  let waiting = Promise.withResolvers<void>();
  let latest: { readonly value: KubernetesState; readonly revision: number } | undefined;
  let toldRevision: number | undefined;
  let isStale = true;
  let failure: InfraError | undefined;
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function renew(): void {
    const value = isStale ? load() : undefined;
    if (value === undefined) {
      return;
    }
    isStale = false;
    if (latest === undefined || !isDeepStrictEqual(latest.value, value)) {
      latest = { value, revision: (latest?.revision ?? 0) + 1 };
      // The first value is no change: whoever wants it reads.
      toldRevision ??= latest.revision;
    }
  }

  function wakeReaders(): void {
    waiting.resolve();
    waiting = Promise.withResolvers();
  }

  function tell(): void {
    for (const listener of [...listeners]) {
      listener();
    }
  }

  function gathered(): void {
    timer = undefined;
    renew();
    if (latest !== undefined) {
      wakeReaders();
    }
    if (latest?.revision !== toldRevision) {
      toldRevision = latest?.revision;
      tell();
    }
  }

  function setChanged(): void {
    isStale = true;
    timer ??= setTimeout(gathered, gatherMs).unref();
  }

  return {
    async read(signal) {
      signal?.throwIfAborted();
      renew();
      while (latest === undefined && failure === undefined) {
        await untilAborted(waiting.promise, signal);
        renew();
      }
      if (latest === undefined || performance.now() - heardAtMs > keepMs) {
        throw failure ?? new InfraError("KUBERNETES_UNAVAILABLE", "Kubernetes did not answer in time");
      }
      return { ...latest, readAtMs: heardAtMs, staleBecause: failure?.message };
    },
    subscribe(onChange) {
      // Its own function, so that one listener given twice counts twice.
      const entry = () => onChange();
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    setChanged,
    setHeard(error, nextHeardAtMs) {
      const isOther = (error === undefined) !== (failure === undefined);
      failure = error;
      heardAtMs = nextHeardAtMs;
      // What cannot be watched is told for a time only.
      setChanged();
      if (failure !== undefined) {
        wakeReaders();
      }
      if (isOther) {
        tell();
      }
    },
    close() {
      failure ??= new InfraError("KUBERNETES_UNAVAILABLE", "The gateway stops");
      listeners.clear();
      clearTimeout(timer);
      wakeReaders();
    },
  };
}
