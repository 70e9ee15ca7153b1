/** Log of the store. Messages contain no password and no value of a row. */
export interface StoreLog {
  info(message: string): void;
  /** The store recovers by itself. */
  warn(message: string, cause?: unknown): void;
  /** The store no longer works; the process has to exit. */
  fatal(message: string, cause?: unknown): void;
}
