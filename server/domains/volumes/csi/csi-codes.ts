import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { operationReasons } from "../../../operations/reasons.ts";
import { csiReasons } from "./reasons.ts";

/**
 * Returns a change that fails with the codes of the specification: while another change or operation of the volume is running, the
 * call is ABORTED, since an orchestrator would take FAILED_PRECONDITION or RESOURCE_EXHAUSTED for final.
 */
export function withCsiCodes<Request, By extends readonly unknown[], Result>(
  run: (request: Request, ...by: By) => Promise<Result>,
): (request: Request, ...by: By) => Promise<Result> {
  return async (request, ...by) => {
    try {
      return await run(request, ...by);
    } catch (error) {
      if (hasReason(error, operationReasons.OPERATION_IN_PROGRESS, hostReasons.BUSY)) {
        const { message, resource, effect } = error;
        throw new InfraError(csiReasons.CSI_PENDING, message, {
          cause: error,
          effect,
          ...(resource === undefined ? {} : { resource }),
        });
      }
      throw error;
    }
  };
}
