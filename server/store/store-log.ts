/** What the store tells its operator. No message holds a password or a value of a row. */
export interface StoreLog {
  info(message: string): void;
  /** The store goes on by itself. */
  warn(message: string, cause?: unknown): void;
  /** The store works no more: the process has to end. */
  fatal(message: string, cause?: unknown): void;
}
