import { hasReason, type InfraError } from "../../adapters/host/infra-error.ts";
import { storeReasons } from "./reasons.ts";
import type { Store, TransactionName } from "./store.ts";

/** Whether changes can be written. */
export interface WriteHealth {
  /** Returns why the last change could not be written; undefined: it could. */
  failure(): InfraError | undefined;
  close(): void;
}

export interface WriteHealthLog {
  error(message: string, cause?: unknown): void;
  info(message: string): void;
}

/**
 * Every gateway runs this transaction at least every `operations.leaseMs`, and ten times as often while it fails. Others may
 * succeed on a full disk, because they only read or change nothing.
 */
const heartbeat: TransactionName = "operations.renew";

const logEveryMs = 60_000;

/**
 * Watches the outcomes of a store's transactions. While writes fail, the failure is logged once a minute.
 * @param describeDisk returns a text for that message; undefined when there is nothing to add
 */
export function watchWrites(
  store: Store,
  log: WriteHealthLog,
  describeDisk: () => Promise<string | undefined>,
): { readonly store: Store; readonly writes: WriteHealth } {
  let failure: InfraError | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function logFailure(): Promise<void> {
    const disk = await describeDisk().catch(() => undefined);
    if (failure !== undefined) {
      const words = disk === undefined ? "" : ` (its disk is ${disk})`;
      log.error(
        `the store cannot be written${words}; changes are refused until it can be written again`,
        failure.cause,
      );
    }
  }

  function fail(error: InfraError): void {
    if (failure === undefined) {
      timer = setInterval(() => void logFailure(), logEveryMs).unref();
      failure = error;
      void logFailure();
    }
    failure = error;
  }

  function succeed(): void {
    if (failure !== undefined) {
      clearInterval(timer);
      failure = undefined;
      log.info("the store can be written again");
    }
  }

  const run: Store["run"] = async (name, args) => {
    try {
      const result = await store.run(name, args);
      if (name === heartbeat) {
        succeed();
      }
      return result as never;
    } catch (error) {
      if (hasReason(error, storeReasons.STORE_UNAVAILABLE)) {
        fail(error);
      }
      throw error;
    }
  };
  return {
    store: { ...store, run },
    writes: { failure: () => failure, close: () => clearInterval(timer) },
  };
}
