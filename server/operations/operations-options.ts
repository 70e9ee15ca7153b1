import type { Seal } from "../crypto/seal.ts";
import type { Store } from "../store/store.ts";
import type { Boundary } from "./engine/fenced-writes.ts";

export interface OperationsOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  readonly instance: { readonly instanceId: string; readonly host: string };
  /** `createSeal(masterKeys, "operations")`. */
  readonly seal: Seal;
  readonly limits: OperationLimits;
  readonly log: OperationsLog;
  /** Pause before the second attempt of a step; for tests. */
  readonly firstPauseMs?: number;
  readonly boundary?: Boundary;
  /**
   * Waits until tools that a dead gateway left behind no longer change anything. Called before an operation of this host
   * continues that an earlier gateway began, so that its steps see all effects. An aborted signal ends the wait.
   */
  readonly settleLeftTools?: (signal: AbortSignal) => Promise<void>;
  /** The same, without interruptible tools. Called once, before the first new operation of this host. */
  readonly settleLeftCommands?: (signal: AbortSignal) => Promise<void>;
}

export interface OperationLimits {
  /** Maximum number of running operations of a system: per host, or in total where the operations are not bound to a host. */
  readonly perSystem: number;
  /** Maximum number of running and queued operations. */
  readonly maxOpen: number;
  /** How long a gateway may be silent before another one takes over its operations. */
  readonly leaseMs: number;
  /** How long operations are kept after they end. */
  readonly keepMs: number;
}

/** Log of the engine. Messages contain no secrets. */
export interface OperationsLog {
  info(message: string): void;
  warn(message: string, cause?: unknown): void;
}
