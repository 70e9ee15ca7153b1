import { InfraError } from "../../adapters/host/infra-error.ts";

/** OPERATION_NOT_FOUND: the same for what there is not and for what the caller may not know of. */
export function operationNotFound(id: string): InfraError {
  return new InfraError("OPERATION_NOT_FOUND", `there is no operation ${id}`, {
    resource: `operations/${id}`,
  });
}
