import type { Topic, Transactions } from "./transaction.ts";
import type { transactions } from "./transactions.ts";

export type TransactionName = keyof typeof transactions;
export type ResultOf<N extends TransactionName> = ResultIn<typeof transactions, N>;

type ArgsIn<T extends Transactions, N extends keyof T> = Parameters<T[N]>[1];
type ResultIn<T extends Transactions, N extends keyof T> = Awaited<ReturnType<T[N]>>;

/** The database of a gateway, which runs the named transactions of `T` (but in tests: those of `transactions.ts`). */
export interface Store<T extends Transactions = typeof transactions> {
  /** Whether more than one gateway may use it (PostgreSQL). */
  readonly isShared: boolean;
  /**
   * Runs one transaction, and resolves once it is committed and would survive a power cut. Throws
   * STORE_UNAVAILABLE when the database cannot be reached, read or written, or when it is too contended: then
   * nothing was kept, unless the commit itself broke off, whose outcome is unknown: the error's effect is `possible`. What
   * the transaction throws is INTERNAL, and nothing of it is kept. After `close` it throws SHUTTING_DOWN.
   */
  run<N extends keyof T & string>(name: N, args: ArgsIn<T, N>): Promise<ResultIn<T, N>>;
  /**
   * Calls back after every commit that named the topic: ours before `run` resolves, those of other replicas
   * soon after. Calls may be too many, never too few: after a connection was lost there is one for what may
   * have been missed. Returns the function that ends it.
   */
  subscribe(topic: Topic, onChange: () => void): () => void;
  /**
   * Writes a consistent copy to a file (mode 0600) that must not exist, while transactions go on before and
   * after. Throws BACKUP_REFUSED for PostgreSQL, or if the path is not absolute, or the file exists or cannot be written.
   */
  backup(file: string): Promise<Backup>;
  /** Waits for the transactions that run, and releases the database. */
  close(): Promise<void>;
}

/** What a backup says of itself. */
export interface Backup {
  readonly sizeBytes: number;
  /** Of the master key that is needed with it. */
  readonly keyCheck: string;
}
