import type { OperationState } from "./operation.ts";

/** Filters for operations; an operation must match every filter that is set. */
export interface OperationFilters {
  readonly states?: readonly OperationState[];
  /** The kind, or its part before the dot. */
  readonly kind?: string;
  /** A resource; resources below it match too. */
  readonly resource?: string;
  readonly actor?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Full names of services: only operations that were started by their RPCs. */
  readonly services?: readonly string[];
}
