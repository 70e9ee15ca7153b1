import { OperationFailed } from "../../client/operation-failed.ts";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { client } from "../session.ts";
import { onEvent } from "./event-stream.ts";
import { isOpenState } from "./open-state.ts";

/**
 * Waits for the end of an operation, by the events that the page hears anyway: `client.followOperation` takes a connection
 * for each, of which browsers have few.
 * @throws OperationFailed unless it ends as COMPLETED; ConnectError when it cannot be read
 */
export async function operationEnd(id: string): Promise<Operation> {
  const { promise, resolve, reject } = Promise.withResolvers<Operation>();
  const take = (operation: Operation | undefined) => {
    if (operation !== undefined && !isOpenState(operation.state)) {
      resolve(operation);
    }
  };
  const read = () => client.operations.getOperation({ id }).then(({ operation }) => take(operation), reject);
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
    forget();
  }
}
