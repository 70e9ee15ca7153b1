/** What a request takes of the memory for callers that are not authenticated, from its arrival on. */
export interface RequestHold {
  /** Counts bytes that are kept for it. */
  add(bytes: number): void;
  /** Counts bytes that are dropped unread; beyond what a connection may waste it is cut. */
  drop(bytes: number): void;
  /** Says whether its body is waited for, which may take a limited time. */
  awaitBody(isAwaited: boolean): void;
  /** The caller is known: neither the request nor its connection counts any more. */
  identified(): void;
  /** The request counts no more; its caller is not known. */
  release(): void;
}
