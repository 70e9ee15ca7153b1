import type { PlannedMutation } from "./mutation.ts";
import type { Json, Operation } from "./operation.ts";
import type { OperationFilters } from "./operation-filters.ts";
import type { OperationKind } from "./operation-kind.ts";

/** The caller that requests an operation. */
export interface OperationRequester {
  readonly actor: string;
  readonly accountId: string;
  /** The RPC, as `package.Service/Method`. */
  readonly rpc: string;
  /** The saved plan that it applies; undefined: none. */
  readonly planId?: string | undefined;
}

/** The saved plan that an operation applies. */
export interface OperationPlan {
  readonly id: string;
  /** What it says of the operation. */
  readonly mutation: PlannedMutation;
}

/**
 * Compares what an operation would do now with its plan, before its first change.
 * @throws InfraError PLAN_STALE, which names what differs, and retryable reasons
 */
export type CheckOperationPlan = (
  operation: Pick<Operation, "id" | "resource" | "rpc">,
  plan: OperationPlan,
  signal: AbortSignal,
) => Promise<void>;

/** An operation to start. */
export interface OperationSpec<Input extends Json, Secrets extends Json> {
  readonly resource: string;
  /** ID of the system that it targets. */
  readonly backend: string;
  readonly input: Input;
  /** Stored encrypted, and only until the operation has ended. */
  readonly secrets: Secrets;
  readonly requester: OperationRequester;
  /** A request with the key of an operation that has not ended attaches to it. */
  readonly attachKey?: string;
  /** Checked again in the first step. Absent: the operation applies no plan. */
  readonly plan?: OperationPlan;
}

/** Starts operations of one kind. */
export interface OperationStarter<Input extends Json, Secrets extends Json> {
  /**
   * Creates an operation, or finds the one that a request with the same `attachKey` started.
   * @throws InfraError BUSY when too many are open
   */
  start(
    spec: OperationSpec<Input, Secrets>,
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

/** An operation as it was when the event `seq` was the newest of the store; later changes have greater numbers. */
export interface OperationAtSeq {
  readonly operation: Operation;
  readonly seq: number;
}

/** Number of operations in the store that are open or need attention, by state. */
export type OperationCounts = Readonly<Record<"scheduled" | "active" | "undoing" | "needsAttention", number>>;

/** Durable operations: kept in the store, and run by the gateway that has claimed them. */
export interface Operations {
  /** Registers a kind; must be called before `begin`. Operations of unregistered kinds are left to other gateways. */
  register<Input extends Json, Secrets extends Json>(
    kind: OperationKind<Input, Secrets>,
  ): OperationStarter<Input, Secrets>;
  /** Sets how the plans of operations are checked; must be called before `begin`. */
  checkPlansWith(check: CheckOperationPlan): void;
  /** Starts to run operations, including those that an earlier gateway left. */
  begin(): void;
  /** @throws InfraError OPERATION_NOT_FOUND */
  get(id: string): Promise<Operation>;
  /** Returns an operation and the number of the newest event, read in one transaction. @throws InfraError OPERATION_NOT_FOUND */
  getAtSeq(id: string): Promise<OperationAtSeq>;
  /** Lists operations, newest first. `belowSeq`: `nextSeq` of the previous page. */
  list(
    filters: OperationFilters,
    page: { readonly belowSeq: number | undefined; readonly limit: number },
  ): Promise<{ readonly operations: readonly Operation[]; readonly nextSeq: number | undefined }>;
  /** Counts the operations of all gateways that share the store. */
  counts(): Promise<OperationCounts>;
  /** Lists commands, oldest first. @throws InfraError OPERATION_NOT_FOUND */
  commands(
    id: string,
    page: { readonly aboveSeq: number; readonly limit: number },
  ): Promise<{ readonly commands: readonly OperationCommand[]; readonly nextSeq: number | undefined }>;
  /** Requests cancellation. @throws InfraError OPERATION_NOT_FOUND, OPERATION_ENDED, POINT_OF_NO_RETURN */
  cancel(id: string): Promise<Operation>;
  /** @throws InfraError OPERATION_NOT_FOUND, OPERATION_NOT_RETRYABLE */
  retry(id: string): Promise<Operation>;
  /** Resolves with the operation once it has ended. @throws InfraError OPERATION_NOT_FOUND, and the signal's reason */
  ended(id: string, signal: AbortSignal): Promise<Operation>;
  /**
   * Checks that no open operation works on a resource.
   * @param except ID of an operation that does not count
   * @throws InfraError OPERATION_IN_PROGRESS
   */
  assertFree(resource: string, except?: string): Promise<void>;
  /**
   * Claims no more operations, and releases the running ones: abortable steps are aborted and continue elsewhere or at the next
   * start, others run to their end.
   */
  close(): Promise<void>;
}
