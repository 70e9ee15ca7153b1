import type { Json, Operation } from "./operation.ts";
import type { OperationFilters } from "./operation-filters.ts";
import type { OperationKind } from "./operation-kind.ts";

/** Who asks. */
export interface OperationAsker {
  readonly actor: string;
  readonly accountId: string;
  /** The RPC, as `package.Service/Method`. */
  readonly rpc: string;
}

/** An operation that is wanted. */
export interface WantedOperation<Input extends Json, Secrets extends Json> {
  readonly resource: string;
  /** Identity of the system it is meant for. */
  readonly backend: string;
  readonly input: Input;
  /** Kept encrypted, and only until the operation has ended. */
  readonly secrets: Secrets;
  readonly asker: OperationAsker;
  /** A request with the key of an operation that has not ended is that operation. */
  readonly attachKey?: string;
}

/** Starts operations of one kind. */
export interface OperationStarter<Input extends Json, Secrets extends Json> {
  /**
   * Keeps a new operation, or finds the one that a request with the same `attachKey` began.
   * @throws InfraError BUSY when too many wait
   */
  start(
    wanted: WantedOperation<Input, Secrets>,
  ): Promise<{ readonly operation: Operation; readonly isNew: boolean }>;
}

/** A command that an operation has run. */
export interface OperationCommand {
  readonly atMs: number;
  readonly step: string;
  readonly argv: readonly string[];
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly durationMs: number;
  readonly host: string;
}

/** An operation as it was when the event `seq` was the newest of the store: later changes have greater numbers. */
export interface OperationAtSeq {
  readonly operation: Operation;
  readonly seq: number;
}

/** How many operations the store holds that are not done with, by their states. */
export type OperationCounts = Readonly<Record<"scheduled" | "active" | "undoing" | "needsAttention", number>>;

/** Durable operations: kept in the store, run by whichever gateway has claimed them. */
export interface Operations {
  /** Makes a kind known; before `begin`. Operations of kinds that are not known here are left to other gateways. */
  register<Input extends Json, Secrets extends Json>(
    kind: OperationKind<Input, Secrets>,
  ): OperationStarter<Input, Secrets>;
  /** Begins to run operations, also those that a gateway before has left. */
  begin(): void;
  /** @throws InfraError OPERATION_NOT_FOUND */
  get(id: string): Promise<Operation>;
  /** The same, read in one transaction with the number of the newest event. @throws InfraError OPERATION_NOT_FOUND */
  getAtSeq(id: string): Promise<OperationAtSeq>;
  /** Newest first. `belowSeq`: where the page before ended. */
  list(
    filters: OperationFilters,
    page: { readonly belowSeq: number | undefined; readonly limit: number },
  ): Promise<{ readonly operations: readonly Operation[]; readonly nextSeq: number | undefined }>;
  /** Of all gateways that share the store. */
  counts(): Promise<OperationCounts>;
  /** Oldest first. @throws InfraError OPERATION_NOT_FOUND */
  commands(
    id: string,
    page: { readonly aboveSeq: number; readonly limit: number },
  ): Promise<{ readonly commands: readonly OperationCommand[]; readonly nextSeq: number | undefined }>;
  /** Asks it to stop. @throws InfraError OPERATION_NOT_FOUND, OPERATION_ENDED, POINT_OF_NO_RETURN */
  cancel(id: string): Promise<Operation>;
  /** @throws InfraError OPERATION_NOT_FOUND, OPERATION_NOT_RETRYABLE */
  retry(id: string): Promise<Operation>;
  /** Resolves with the operation once it has ended. @throws InfraError OPERATION_NOT_FOUND, and the signal's reason */
  ended(id: string, signal: AbortSignal): Promise<Operation>;
  /**
   * Refuses what would get in the way of an operation that has not ended.
   * @throws InfraError OPERATION_IN_PROGRESS
   */
  assertFree(resource: string): Promise<void>;
  /**
   * Takes no more operations, and lets go of those that run: abortable steps are aborted and go on elsewhere or at the next
   * start, others run to their end.
   */
  close(): Promise<void>;
}
