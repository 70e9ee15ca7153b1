import type { Seal } from "../crypto/seal.ts";
import type { Store } from "../store/store.ts";
import type { Boundary } from "./fenced-writes.ts";

export interface OperationsOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  readonly instance: { readonly instanceId: string; readonly host: string };
  /** `createSeal(masterKey, "operations")`. */
  readonly seal: Seal;
  readonly limits: OperationLimits;
  readonly log: OperationsLog;
  /** The pause before the second attempt of a step; for tests. */
  readonly firstPauseMs?: number;
  readonly boundary?: Boundary;
  /**
   * Waits until no tool of a gateway that has died changes anything any more. Called before an operation of this host goes on
   * that an earlier gateway began, so that its steps see all effects. An aborted signal ends the wait.
   */
  readonly settleLeftTools?: (signal: AbortSignal) => Promise<void>;
  /** The same, except for interruptible tools. Called once, before the first new operation of this host. */
  readonly settleLeftCommands?: (signal: AbortSignal) => Promise<void>;
}

export interface OperationLimits {
  /** How many operations of a system run at once: on one host, or in all where the host does not matter. */
  readonly perSystem: number;
  /** How many may run and wait. */
  readonly maxOpen: number;
  /** How long a gateway may be silent before another takes over what it runs. */
  readonly leaseMs: number;
  /** How long operations are kept after their end. */
  readonly keepMs: number;
}

/** What the engine tells its operator. No message holds a secret. */
export interface OperationsLog {
  info(message: string): void;
  warn(message: string, cause?: unknown): void;
}
