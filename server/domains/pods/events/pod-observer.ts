import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../../../../adapters/host/back-off.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { Store } from "../../../store/store.ts";
import type { ImportTimes } from "./import-times.ts";
import type { ObservedPods } from "./observed-pods.ts";
import { createObservedStore } from "./observed-store.ts";
import type { OwnChanges } from "./own-changes.ts";
import { watchPods } from "./watch-pods.ts";

/** Options of `createPodObserver`. */
export interface PodObserverOptions {
  readonly runtime: PodRuntime;
  readonly own: OwnChanges;
  readonly store: Pick<Store, "run">;
  readonly host: string;
  /** Called on the first of several consecutive failures of the runtime or the store; both are retried. */
  readonly onFailed: (error: unknown) => void;
  /** How long the runtime may take to record the events behind a state; 500 ms by default. */
  readonly settleMs?: number;
  /** Interval at which the reported state is compared with the actual one and confirmed; 1 min by default. */
  readonly confirmMs?: number;
}

/** Reports all changes of pods and images as events, whatever their origin. */
export interface PodObserver {
  readonly importTimes: ImportTimes;
  /** Starts reporting, until it is closed. */
  begin(): { close(): Promise<void> };
}

const retry = { firstMs: 100, longestMs: 5_000 };

/** Delay after another gateway has written first. */
const retryMs = 20;

/** Maximum time for which closing waits for the store. */
const closeMs = 1_500;

/** Returns the name under which the store keeps the pods of a host. */
export function podSource({ kind }: Pick<PodRuntime, "kind">, host: string): string {
  return `${kind === "sandbox" ? "sandbox-" : ""}podman/${host}`;
}

/**
 * Reports each event of the runtime exactly once, across restarts of the gateway, the runtime and the store, and with several
 * gateways watching the same runtime: the reported state is kept in the store and written in the same transaction as the
 * events.
 */
export function createPodObserver(options: PodObserverOptions): PodObserver {
  const { runtime, own, store, host, settleMs = 500, confirmMs = 60_000 } = options;
  let importedAt = new Map<string, bigint>();
  let hasFailed = false;

  function fail(error: unknown): void {
    if (!hasFailed) {
      options.onFailed(error);
    }
    hasFailed = true;
  }

  function keepImportTimes({ images }: ObservedPods): void {
    importedAt = new Map(
      images.flatMap(({ id, addedAtNs }) => (addedAtNs === null ? [] : [[id, addedAtNs]])),
    );
  }

  async function run(signal: AbortSignal): Promise<void> {
    const source = podSource(runtime, host);
    for (let failures = 0; !signal.aborted; ) {
      try {
        const observedStore = createObservedStore({ store, source, own, host, onKept: keepImportTimes });
        const onHealthy = () => {
          failures = 0;
          hasFailed = false;
        };
        await watchPods({ runtime, observedStore, settleMs, confirmMs, onFailed: fail, onHealthy }, signal);
        await sleep(retryMs, undefined, { signal, ref: false });
      } catch (error) {
        if (!signal.aborted) {
          fail(error);
        }
        failures += 1;
        await sleep(backOffMs(failures, retry), undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  return {
    importTimes: { importedAtNs: (imageId) => importedAt.get(imageId) },
    begin() {
      const closing = new AbortController();
      // Runs outside the async context of the call that triggered it.
      const running = AsyncLocalStorage.snapshot()(run, closing.signal);
      return {
        async close() {
          closing.abort();
          // Events that are not reported yet remain in the runtime's record.
          await Promise.race([running, sleep(closeMs, undefined, { ref: false })]);
        },
      };
    },
  };
}
