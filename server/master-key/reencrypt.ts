import { setImmediate as turn } from "node:timers/promises";
import type { MasterKeys } from "../crypto/master-keys.ts";
import { createSeal, keyOfSealed } from "../crypto/seal.ts";
import type { Store } from "../store/store.ts";
import type { SealedColumn } from "./sealed-columns.ts";
import type { SealedValue } from "./store/sealed-values.ts";

export interface ReencryptOptions {
  readonly store: Pick<Store, "run">;
  readonly masterKeys: Pick<MasterKeys, "current" | "find">;
  readonly columns: readonly SealedColumn[];
  readonly signal: AbortSignal;
}

/** Secrets of a table that could not be decrypted. */
export interface Unreadable {
  readonly table: string;
  /** Fingerprint of the key that they need. */
  readonly fingerprint: string;
  readonly count: number;
  /** Why the first of them could not be. */
  readonly error: unknown;
}

/** Secrets in one transaction; a kept result can have megabytes. */
const batchSize = 20;

/**
 * Encrypts all secrets again that are not encrypted with the key in use. Others may change them meanwhile. When it is
 * interrupted, the next run continues. A secret that cannot be decrypted stays as it is.
 * @throws InfraError STORE_UNAVAILABLE
 */
export async function reencrypt(options: ReencryptOptions): Promise<readonly Unreadable[]> {
  const unreadable = new Map<string, Unreadable>();
  for (const column of options.columns) {
    await reencryptColumn(options, column, (fingerprint, error) => {
      const key = `${column.table} ${fingerprint}`;
      const { count, ...first } = unreadable.get(key) ?? {
        table: column.table,
        fingerprint,
        count: 0,
        error,
      };
      unreadable.set(key, { ...first, count: count + 1 });
    });
  }
  return [...unreadable.values()];
}

async function reencryptColumn(
  { store, masterKeys, signal }: ReencryptOptions,
  { table, column, keyColumns, purpose, context }: SealedColumn,
  onUnreadable: (fingerprint: string, error: unknown) => void,
): Promise<void> {
  const of = { table, column, keyColumns };
  const { fingerprint } = masterKeys.current;
  const seal = createSeal(masterKeys, purpose);
  let after: SealedValue["key"] | undefined;
  while (!signal.aborted) {
    const args = { of, fingerprint, after, limit: batchSize };
    const batch = await store.run("sealedValues.ofOtherKeys", args);
    const values = batch.flatMap((value) => {
      try {
        const secret = seal.open(value.sealed, context(value.key));
        return [{ ...value, replacement: seal.seal(secret, context(value.key)) }];
      } catch (error) {
        onUnreadable(keyOfSealed(value.sealed), error);
        return [];
      }
    });
    if (values.length > 0) {
      await store.run("sealedValues.replace", { of, values });
    }
    if (batch.length < batchSize) {
      return;
    }
    after = batch.at(-1)?.key;
    await turn();
  }
}
