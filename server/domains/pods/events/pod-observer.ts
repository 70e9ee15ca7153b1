import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../../../../adapters/host/back-off.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { Store } from "../../../store/store.ts";
import type { OwnChanges } from "../own-changes.ts";
import type { ImportTimes } from "./import-times.ts";
import type { ObservedPods } from "./observed-pods.ts";
import { createObservedStore } from "./observed-store.ts";
import { watchPods } from "./watch-pods.ts";

/** What `createPodObserver` needs. */
export interface PodObserverOptions {
  readonly runtime: PodRuntime;
  readonly own: OwnChanges;
  readonly store: Pick<Store, "run">;
  readonly host: string;
  /** Called when the runtime or the store failed, for the first time in a row; both are tried again. */
  readonly onFailed: (error: unknown) => void;
  /** How long what is written about a state may take to be recorded; 500 ms unless told. */
  readonly settleMs?: number;
  /** How often what is known is compared with what is, and noted to be so; every minute unless told. */
  readonly confirmMs?: number;
}

/** Tells what happens to pods and images as events, whoever makes it. */
export interface PodObserver {
  readonly importTimes: ImportTimes;
  /** Begins to tell, until it is closed. */
  begin(): { close(): Promise<void> };
}

const retry = { firstMs: 100, longestMs: 5_000 };

/** After another gateway was faster. */
const anewMs = 20;

/** How long a close may wait for the store. */
const closeMs = 1_500;

/** What the store calls the pods of a host. */
export function podSource({ kind }: Pick<PodRuntime, "kind">, host: string): string {
  return `${kind === "sandbox" ? "sandbox-" : ""}podman/${host}`;
}

/**
 * Tells each event of the runtime once, however often the gateway, the runtime and the store come and go, and however many gateways
 * tell of the same: what is known is kept in the store, and written together with the events that made it so.
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
        await sleep(anewMs, undefined, { signal, ref: false });
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
      // What it brings about is nobody's call.
      const running = AsyncLocalStorage.snapshot()(run, closing.signal);
      return {
        async close() {
          closing.abort();
          // What is not told yet the runtime has recorded.
          await Promise.race([running, sleep(closeMs, undefined, { ref: false })]);
        },
      };
    },
  };
}
