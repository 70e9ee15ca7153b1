import type { Store } from "../../store/store.ts";
import type { Operation } from "../operation.ts";
import { operationNotFound } from "../operation-not-found.ts";

/** Waits for the ends of operations, no matter which gateway runs them. */
export interface EndedWaits {
  /** @throws InfraError OPERATION_NOT_FOUND, and the signal's reason */
  ended(id: string, signal: AbortSignal): Promise<Operation>;
  close(): void;
}

interface Wait {
  readonly id: string;
  resolve(operation: Operation): void;
  reject(error: unknown): void;
}

const againMs = 1000;

/** Runs one query for all waits after each change. */
export function createEndedWaits(store: Pick<Store, "run" | "subscribe">): EndedWaits {
  const waits = new Set<Wait>();
  let isQuerying = false;
  let isRequested = false;
  let timer: NodeJS.Timeout | undefined;

  function query(): void {
    isRequested = true;
    if (!isQuerying && waits.size > 0) {
      isQuerying = true;
      void queryWhileRequested();
    }
  }

  async function queryWhileRequested(): Promise<void> {
    try {
      while (isRequested && waits.size > 0) {
        isRequested = false;
        const ids = [...new Set([...waits].map(({ id }) => id))];
        for (const { id, operation } of await store.run("operations.endedOf", { ids })) {
          settle(id, operation);
        }
      }
    } catch {
      // Waits survive an outage: the operation continues whether or not the store answers.
      clearTimeout(timer);
      timer = setTimeout(query, againMs).unref();
    }
    isQuerying = false;
  }

  function settle(id: string, operation: Operation | undefined): void {
    for (const wait of [...waits].filter((each) => each.id === id)) {
      if (operation === undefined) {
        wait.reject(operationNotFound(id));
      } else {
        wait.resolve(operation);
      }
    }
  }

  const unsubscribe = store.subscribe("operations", query);
  return {
    async ended(id, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Operation>();
      const wait: Wait = { id, resolve, reject };
      const leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      waits.add(wait);
      query();
      try {
        return await promise;
      } finally {
        waits.delete(wait);
        signal.removeEventListener("abort", leave);
      }
    },
    close() {
      clearTimeout(timer);
      unsubscribe();
    },
  };
}
