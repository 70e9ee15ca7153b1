import type { Charged } from "./loop-time.ts";

/** Whom the cost of a call counts for. */
export interface CostAccount extends Charged {
  /** Counts bytes of its answer that wait for the client to read; negative when they no longer do. */
  hold(bytes: number): void;
  /**
   * Counts a message of a request stream as a call.
   * @throws InfraError CALLER_LIMIT
   */
  countMessage(): void;
  /** The call is over, and its answer handed over. */
  close(): void;
}
