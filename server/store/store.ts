import type { storeCheckTransactions } from "./store-check.ts";
import type { Topic, Transaction } from "./transaction.ts";

/**
 * The transactions of the gateway by name. Each folder with tables adds its own in `store/transactions.ts`, where the queries
 * are; `server/gateway/store-transactions.ts` lists these folders.
 */
export interface GatewayTransactions extends StoreCheckTransactions {}

type StoreCheckTransactions = typeof storeCheckTransactions;

export type TransactionName = keyof GatewayTransactions;
export type ResultOf<N extends TransactionName> = ResultIn<GatewayTransactions, N>;

type ArgsIn<T, N extends keyof T> = T[N] extends Transaction<infer Args, unknown> ? Args : never;
type ResultIn<T, N extends keyof T> = T[N] extends Transaction<never, infer Result> ? Result : never;

/** The database of a gateway, which runs the named transactions of `T` (except in tests: `GatewayTransactions`). */
export interface Store<T = GatewayTransactions> {
  /** Whether more than one gateway may use it (PostgreSQL). */
  readonly isShared: boolean;
  /**
   * Runs one transaction, and resolves once it is committed and would survive a power failure.
   * @throws InfraError STORE_UNAVAILABLE when the database cannot be reached, read or written, or when there is too much
   * contention. Nothing was written then, unless the commit itself was interrupted; its outcome is unknown, and the error's
   * effect is `possible`. INTERNAL when the transaction throws; nothing was written. SHUTTING_DOWN after `close`.
   */
  run<N extends keyof T & string>(name: N, args: ArgsIn<T, N>): Promise<ResultIn<T, N>>;
  /**
   * Calls back after every commit with the topic: our own before `run` resolves, those of other replicas soon after. There may
   * be extra calls, but none is missed: after a lost connection there is one call for all that may have been missed.
   * @returns a function that unsubscribes
   */
  subscribe(topic: Topic, onChange: () => void): () => void;
  /**
   * Writes a consistent copy to a file (mode 0600) that must not exist. Transactions continue before and after.
   * @throws InfraError BACKUP_REFUSED for PostgreSQL, if the path is not absolute, or if the file exists or cannot be written
   */
  backup(file: string): Promise<Backup>;
  /** Waits for running transactions, and closes the database. */
  close(): Promise<void>;
}

/** Result of a backup. */
export interface Backup {
  readonly sizeBytes: number;
  /** Fingerprints of the master keys that a restore needs: the one in use, and replaced ones that secrets still need. */
  readonly keyChecks: readonly string[];
}
