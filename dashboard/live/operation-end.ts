import { describeError } from "../../client/describe-error.ts";
import { OperationFailed } from "../../client/operation-failed.ts";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { client } from "../session.ts";
import { onEvent } from "./event-stream.ts";
import { isOpenState } from "./open-state.ts";
import { untilLive } from "./until-live.ts";

/**
 * Waits for the end of an operation, using the page's event stream: `client.followOperation` needs a stream per operation.
 * @throws OperationFailed unless it ends as COMPLETED; ConnectError when it cannot be read
 */
export async function operationEnd(id: string): Promise<Operation> {
  const { promise, resolve, reject } = Promise.withResolvers<Operation>();
  const take = (operation: Operation | undefined) => {
    if (operation !== undefined && !isOpenState(operation.state)) {
      resolve(operation);
    }
  };
  let isOver = false;
  const read = async (): Promise<void> => {
    try {
      take((await client.operations.getOperation({ id })).operation);
    } catch (error) {
      if (!describeError(error).retryable) {
        reject(error);
      } else if (!isOver) {
        // The operation continues while its gateway is away, or the next gateway takes it over.
        await untilLive();
        await read();
      }
    }
  };
  const forget = onEvent((event) => {
    if (event === "resumed") {
      void read();
    } else if (event.detail.case === "operation" && event.detail.value.id === id) {
      take(event.detail.value);
    }
  });
  try {
    void read();
    const operation = await promise;
    if (operation.state !== OperationState.COMPLETED) {
      throw new OperationFailed(operation);
    }
    return operation;
  } finally {
    isOver = true;
    forget();
  }
}
