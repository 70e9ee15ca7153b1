import { describeError } from "../../client/describe-error.ts";

/** Whether a reading failed since what it reads of is not configured, which `DomainNotice` tells. */
export function isOff({ error }: { readonly error: unknown }): boolean {
  return error !== undefined && describeError(error).reason === "DOMAIN_OFF";
}
