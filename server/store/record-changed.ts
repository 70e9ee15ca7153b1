import { InfraError } from "../../adapters/host/infra-error.ts";
import { storeReasons } from "./reasons.ts";

/** Returns the error of a change whose records have changed since its dry run. @param resource e.g. `users/alice` */
export function recordChanged(resource: string): InfraError {
  const message = `${resource} is being changed concurrently, and nothing was done; try again`;
  return new InfraError(storeReasons.RECORD_CHANGED, message, { resource, effect: "none" });
}
