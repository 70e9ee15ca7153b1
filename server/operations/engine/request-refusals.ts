import { InfraError } from "../../../adapters/host/infra-error.ts";
import { operationNotFound } from "../operation-not-found.ts";
import { operationReasons } from "../reasons.ts";
import type { CancelOutcome, RetryOutcome } from "../store/requests.ts";

type Why<Outcome> = Extract<Outcome, { ok: false }> extends { readonly why: infer W } ? W : never;

/** Returns the error for an operation that cannot be cancelled. */
export function cancelRefused(id: string, why: Why<CancelOutcome>, detail: string): InfraError {
  const resource = `operations/${id}`;
  switch (why) {
    case "missing":
      return operationNotFound(id);
    case "ended":
      return new InfraError(operationReasons.OPERATION_ENDED, `the operation has already ended (${detail})`, {
        resource,
      });
    case "pastReturn":
      return new InfraError(
        operationReasons.POINT_OF_NO_RETURN,
        "the operation has passed its point of no return and can no longer be cancelled",
        { resource },
      );
  }
}

/** Returns the error for an operation that cannot be retried. */
export function retryRefused(id: string, why: Why<RetryOutcome>, detail: string): InfraError {
  const refused = (message: string) =>
    new InfraError(operationReasons.OPERATION_NOT_RETRYABLE, message, { resource: `operations/${id}` });
  switch (why) {
    case "missing":
      return operationNotFound(id);
    case "state":
      return refused(
        `the operation is ${detail}; only an operation that failed or needs attention can be retried`,
      );
    case "secretsGone":
      return refused("the secrets of the operation were erased; send the original request again");
    case "attached":
      return refused(`operation ${detail}, started by an equal request, has not ended`);
  }
}
