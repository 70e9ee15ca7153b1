import { InfraError } from "../../adapters/host/infra-error.ts";
import { operationReasons } from "./reasons.ts";

/** Returns OPERATION_NOT_FOUND, both for an operation that does not exist and for one that is hidden from the caller. */
export function operationNotFound(id: string): InfraError {
  return new InfraError(operationReasons.OPERATION_NOT_FOUND, `operation ${id} not found`, {
    resource: `operations/${id}`,
  });
}
