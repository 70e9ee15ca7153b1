import type { CostAccount } from "./cost-account.ts";

/**
 * What a request takes, from its arrival until its answer has left: of the memory for callers that are not authenticated, as long
 * as its caller is not, and of its caller's own limits.
 */
export interface RequestHold {
  /** Counts bytes that are kept for it. */
  add(bytes: number): void;
  /** Counts bytes that are dropped unread; beyond what a connection may waste it is cut. */
  drop(bytes: number): void;
  /** Counts a message of a request stream as a request. */
  countMessage(): void;
  /** Says whether its body is waited for, which may take a limited time. */
  awaitBody(isAwaited: boolean): void;
  /** The caller is known: neither the request nor its connection counts for callers who are not. */
  identified(): void;
  /** Counts the bytes of its answer that wait for the client for an account. */
  chargeTo(account: CostAccount): void;
  /** Counts a page, which no login is needed for, by its size as CPU time of its address. */
  sendsPage(bytes: number): void;
  /** Part of the answer has been written, or has left. */
  wrote(): void;
  left(): void;
  /** Nothing is limited any more. */
  release(): void;
}
