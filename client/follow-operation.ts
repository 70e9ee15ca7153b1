import type { Client } from "@connectrpc/connect";
import { type Operation, type OperationService, OperationState } from "../gen/hostplane/v1/operation_pb.ts";
import { describeError } from "./describe-error.ts";
import { OperationFailed } from "./operation-failed.ts";
import { resumeStream, type StreamOptions } from "./resume-stream.ts";

export interface FollowOptions extends StreamOptions {
  /** Called with the operation as it is, then after every change, the last time at its end. */
  readonly onProgress?: ((operation: Operation) => void) | undefined;
}

/** The stream has no heartbeats: one that is silent for so long is asked for again, from its cursor on. */
const maxSilenceMs = 40_000;

const endStates: ReadonlySet<OperationState> = new Set([
  OperationState.COMPLETED,
  OperationState.FAILED,
  OperationState.CANCELLED,
  OperationState.NEEDS_ATTENTION,
]);

/**
 * Follows an operation to its end, over lost connections and restarts of the gateway.
 * @returns the operation, COMPLETED
 * @throws OperationFailed when it ends otherwise; ConnectError, e.g. OPERATION_NOT_FOUND, when it cannot be followed; the
 *   reason of the signal when that is aborted, which stops the following and not the operation
 */
export async function followOperation(
  operations: Client<typeof OperationService>,
  id: string,
  { onProgress, ...options }: FollowOptions = {},
): Promise<Operation> {
  let cursor = "";
  // The changes behind the cursor are not kept any more: how the operation is now is all there is to know.
  const recover = (error: unknown) => {
    const isGone = describeError(error).reason === "HISTORY_GONE" && cursor !== "";
    cursor = isGone ? "" : cursor;
    return isGone;
  };
  const open = (signal: AbortSignal) => operations.watchOperation({ id, cursor }, { signal });
  for (;;) {
    for await (const message of resumeStream(open, { ...options, maxSilenceMs, recover })) {
      ({ cursor } = message);
      const { operation } = message;
      if (operation === undefined) {
        continue;
      }
      onProgress?.(operation);
      if (operation.state === OperationState.COMPLETED) {
        return operation;
      }
      if (endStates.has(operation.state)) {
        throw new OperationFailed(operation);
      }
    }
    options.signal?.throwIfAborted();
  }
}
