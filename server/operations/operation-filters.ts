import type { OperationState } from "./operation.ts";

/** Which operations to list; every filter that is set must be met. */
export interface OperationFilters {
  readonly states?: readonly OperationState[];
  /** The kind, or the part before its dot. */
  readonly kind?: string;
  /** The resource itself, or what is below it. */
  readonly resource?: string;
  readonly actor?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Full names of services: only operations that their RPCs began. */
  readonly services?: readonly string[];
}
