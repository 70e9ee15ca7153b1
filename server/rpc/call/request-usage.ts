import type { CostAccount } from "./cost-account.ts";

/**
 * Resources of a request from its arrival until its answer is sent. They count towards the memory for unauthenticated callers
 * while its caller is unknown, and towards the caller's own limits.
 */
export interface RequestUsage {
  /** Counts bytes that are kept for it. */
  add(bytes: number): void;
  /** Counts bytes that are discarded unread. Cuts the connection if it exceeds what it may waste. */
  drop(bytes: number): void;
  /** Counts a message of a request stream as a request. */
  countMessage(): void;
  /** Sets whether its body is awaited, which has a time limit. */
  awaitBody(isAwaited: boolean): void;
  /** Called when the caller is known: the request and its connection no longer count as unauthenticated. */
  identified(): void;
  /** Charges the unread bytes of its answer to an account. */
  chargeTo(account: CostAccount): void;
  /** Counts a page that needs no login, by its size, as CPU time of its address. */
  sendsPage(bytes: number): void;
  /** Called after a part of the answer was written; it may still wait in memory. */
  onWritten(): void;
  /** Called when a part was written to the connection. */
  onSent(): void;
  /** Removes all limits. */
  release(): void;
}
