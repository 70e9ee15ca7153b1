import { hasReason } from "../../adapters/host/infra-error.ts";
import type { Operation } from "./operation.ts";
import type { Operations } from "./operations.ts";
import { operationReasons } from "./reasons.ts";

/** Returns an operation; undefined when it is no longer stored. */
export async function findOperation(
  operations: Pick<Operations, "get">,
  id: string,
): Promise<Operation | undefined> {
  try {
    return await operations.get(id);
  } catch (error) {
    if (hasReason(error, operationReasons.OPERATION_NOT_FOUND)) {
      return undefined;
    }
    throw error;
  }
}
