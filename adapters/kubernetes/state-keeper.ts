import { isDeepStrictEqual } from "node:util";
import { InfraError } from "../host/infra-error.ts";
import type { KubernetesSnapshot, KubernetesState } from "./adapter.ts";
import { kubernetesReasons } from "./reasons.ts";
import { untilAborted } from "./until-aborted.ts";

export interface StateKeeperOptions {
  /** Returns the current state; undefined if there is none. Sends no requests, but takes time. */
  readonly load: () => KubernetesState | undefined;
  /** Time since the cluster last answered after which reads fail. */
  readonly keepMs: number;
}

export interface StateKeeper {
  /**
   * @throws InfraError KUBERNETES_UNAVAILABLE or the reason why the cluster has not answered for `keepMs`, and the
   * signal's reason
   */
  read(signal?: AbortSignal): Promise<KubernetesSnapshot>;
  subscribe(onChange: () => void): () => void;
  /** Signals that the state may have changed. */
  setChanged(): void;
  /** @param answeredAtMs when the cluster last answered (performance.now()) */
  setAnswered(error: InfraError | undefined, answeredAtMs: number): void;
  close(): void;
}

// Changes within this time are reported as one.
const gatherMs = 20;

/** Caches the state from the watches for readers and subscribers, as long as it is recent enough. */
export function createStateKeeper({ load, keepMs }: StateKeeperOptions): StateKeeper {
  const listeners = new Set<() => void>();
  let waiting = Promise.withResolvers<void>();
  let latest: { readonly value: KubernetesState; readonly revision: number } | undefined;
  let reportedRevision: number | undefined;
  let isStale = true;
  let failure: InfraError | undefined;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function renew(): void {
    const value = isStale ? load() : undefined;
    if (value === undefined) {
      return;
    }
    isStale = false;
    if (latest === undefined || !isDeepStrictEqual(latest.value, value)) {
      latest = { value, revision: (latest?.revision ?? 0) + 1 };
      // The first value is not a change; its readers wait for it in `read`.
      reportedRevision ??= latest.revision;
    }
  }

  function wakeReaders(): void {
    waiting.resolve();
    waiting = Promise.withResolvers();
  }

  function notify(): void {
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
    if (latest?.revision !== reportedRevision) {
      reportedRevision = latest?.revision;
      notify();
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
      if (latest === undefined || performance.now() - answeredAtMs > keepMs) {
        throw (
          failure ??
          new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, "Kubernetes did not answer in time")
        );
      }
      return { ...latest, readAtMs: answeredAtMs, staleBecause: failure?.message };
    },
    subscribe(onChange) {
      // Wrapped, so that a listener added twice counts twice.
      const entry = () => onChange();
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    setChanged,
    setAnswered(error, nextAnsweredAtMs) {
      const isOther = (error === undefined) !== (failure === undefined);
      failure = error;
      answeredAtMs = nextAnsweredAtMs;
      // Objects that cannot be watched expire.
      setChanged();
      if (failure !== undefined) {
        wakeReaders();
      }
      if (isOther) {
        notify();
      }
    },
    close() {
      failure ??= new InfraError(kubernetesReasons.KUBERNETES_UNAVAILABLE, "The gateway is stopping");
      listeners.clear();
      clearTimeout(timer);
      wakeReaders();
    },
  };
}
