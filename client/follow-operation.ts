import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { type Operation, type OperationService, OperationState } from "../gen/hostplane/v1/operation_pb.ts";
import { OperationFailed } from "./operation-failed.ts";
import { resumeStream, type StreamOptions } from "./resume-stream.ts";

export interface FollowOptions extends StreamOptions {
  /** Called with the operation's current state, after every change, after a lost connection, and with its final state. */
  readonly onProgress?: ((operation: Operation) => void) | undefined;
}

const endStates: ReadonlySet<OperationState> = new Set([
  OperationState.COMPLETED,
  OperationState.FAILED,
  OperationState.CANCELLED,
  OperationState.NEEDS_ATTENTION,
]);

/**
 * Follows an operation to its end, across lost connections and gateway restarts.
 * @returns the operation, COMPLETED
 * @throws OperationFailed when it ends otherwise; ConnectError, e.g. OPERATION_NOT_FOUND, when it cannot be followed; the
 * signal's reason when the signal is aborted, which stops following but not the operation
 */
export async function followOperation(
  operations: Client<typeof OperationService>,
  id: string,
  { onProgress, ...options }: FollowOptions = {},
): Promise<Operation> {
  const { signal } = options;
  // Without a cursor: the first message is the current state and comes at once, which shows that the connection is alive.
  const open = (connection: AbortSignal) => operations.watchOperation({ id }, { signal: connection });
  for await (const { operation } of resumeStream(open, options)) {
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
  signal?.throwIfAborted();
  throw new ConnectError("the operation's stream ended before the operation", Code.Internal);
}
