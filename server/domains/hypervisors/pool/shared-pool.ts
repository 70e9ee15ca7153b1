import type {
  ExpandStorageRequest,
  ShrinkStorageRequest,
} from "../../../../gen/operations/v1/operations_pb.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { OperationViewMessage } from "../../../operations/operation-view.ts";
import type { Call } from "../../../rpc/call.ts";
import type { StoragePool } from "./storage-pool.ts";

/**
 * The storage pool that hypervisors share, with the operations that change its size. Those of the published service are
 * views of the same operations (`expandFromPublished`, `shrinkFromPublished`).
 */
export interface SharedPool {
  readonly pool: StoragePool;
  /**
   * Begins to make the pool larger, or finds the operation that the same request began.
   * @throws InfraError INVALID_FIELD, POOL_CANNOT_GROW, POOL_FIXED, BUSY, and what reading the pool throws
   */
  expand(minBytes: bigint, call: Call): Promise<Operation>;
  /** The same for smaller. @throws InfraError INVALID_FIELD, POOL_CANNOT_SHRINK, POOL_FIXED, BUSY */
  shrink(maxBytes: bigint, call: Call): Promise<Operation>;
  /** What `expand` would do. @throws as it */
  planExpand(minBytes: bigint, signal: AbortSignal): Promise<PlannedMutation>;
  /** What `shrink` would do. @throws as it */
  planShrink(maxBytes: bigint, signal: AbortSignal): Promise<PlannedMutation>;
  /** ExpandStorage: refused before any message, or told in band to its end. */
  expandFromPublished(request: ExpandStorageRequest, call: Call): AsyncGenerator<OperationViewMessage, void>;
  /** ShrinkStorage. */
  shrinkFromPublished(request: ShrinkStorageRequest, call: Call): AsyncGenerator<OperationViewMessage, void>;
}
