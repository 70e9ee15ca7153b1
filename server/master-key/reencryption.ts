import type { MasterKeys } from "../crypto/master-keys.ts";
import type { Store } from "../store/store.ts";
import { reencrypt, type Unreadable } from "./reencrypt.ts";
import type { SealedColumn } from "./sealed-columns.ts";

/** Encrypts secrets again in the background, until no replaced master key is needed. */
export interface Reencryption {
  /** Starts the work. */
  begin(): void;
  /** Works at once if something is known to be left. */
  wake(): void;
  /** Returns the secrets that the last run could not decrypt. */
  unreadable(): readonly Unreadable[];
  /** Resolves once nothing is running. */
  close(): Promise<void>;
}

export interface ReencryptionOptions {
  readonly store: Pick<Store, "run">;
  readonly masterKeys: MasterKeys;
  readonly columns: readonly SealedColumn[];
  readonly log: { warn(message: string, cause?: unknown): void };
  /** Returns the replaced keys; undefined while another gateway does the work. */
  readonly oldKeys: () => readonly string[] | undefined;
  /** Whether no secret on its way to the store is encrypted with a replaced key. */
  readonly isSettled: () => boolean;
  readonly silentMs: number;
  /** Called when a replaced key is not needed any more. */
  readonly onForgotten: () => void;
}

const hourMs = 3_600_000;
const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/** Creates the worker, idle until `begin`. @param options `columns`: every column with secrets */
export function createReencryption(options: ReencryptionOptions): Reencryption {
  const { store, masterKeys, columns, log, oldKeys, isSettled, silentMs, onForgotten } = options;
  const of = columns.map(({ table, column, keyColumns }) => ({ table, column, keyColumns }));
  const stopping = new AbortController();
  const { signal } = stopping;
  let hasBegun = false;
  let running: Promise<void> | undefined;
  let hourly: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let pauseMs = firstPauseMs;
  let unreadable: readonly Unreadable[] = [];

  async function pass(): Promise<void> {
    const old = oldKeys();
    if (old === undefined) {
      return;
    }
    unreadable = await reencrypt({ store, masterKeys, columns, signal });
    unreadable.forEach(warn);
    let left = 0;
    for (const fingerprint of old) {
      const isForgotten =
        !signal.aborted &&
        isSettled() &&
        (await store.run("masterKeys.forget", { fingerprint, of, silentMs })).ok;
      if (isForgotten) {
        onForgotten();
      } else {
        left += 1;
      }
    }
    if (left > 0) {
      retryLater(unreadable.length > 0 ? hourMs : pauseMs);
    } else {
      pauseMs = firstPauseMs;
    }
  }

  function warn({ table, fingerprint, count, error }: Unreadable): void {
    log.warn(
      `${count} secrets in the table ${table} cannot be decrypted, and stay encrypted with the master key ${fingerprint}`,
      error,
    );
  }

  function retryLater(ms: number): void {
    clearTimeout(retry);
    if (!signal.aborted) {
      retry = setTimeout(work, ms).unref();
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  function work(): void {
    if (!hasBegun || signal.aborted || running !== undefined) {
      return;
    }
    running = pass()
      .catch((error: unknown) => {
        if (!signal.aborted) {
          log.warn("secrets could not be encrypted again with the new master key; retrying", error);
          retryLater(pauseMs);
        }
      })
      .finally(() => {
        running = undefined;
      });
  }

  function wake(): void {
    if ((oldKeys() ?? []).length > 0) {
      work();
    }
  }

  return {
    begin() {
      hasBegun = true;
      // Finds what a gateway that was long suspended has encrypted with a replaced key.
      hourly = setInterval(work, hourMs).unref();
      wake();
    },
    wake,
    unreadable: () => unreadable,
    async close() {
      stopping.abort();
      clearInterval(hourly);
      clearTimeout(retry);
      await running;
    },
  };
}
