import type { Charged } from "./loop-time.ts";

/** The account that a call's cost is charged to. */
export interface CostAccount extends Charged {
  /** Counts bytes of its answer that the client has not read yet; negative once they are read. */
  addUnread(bytes: number): void;
  /**
   * Counts a message of a request stream as a call.
   * @throws InfraError CALLER_LIMIT
   */
  countMessage(): void;
  /** Closes the account when the call is over and its answer is handed over. */
  close(): void;
}
