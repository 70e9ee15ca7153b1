import { describeError } from "../../client/describe-error.ts";

/** Reports whether a read failed because its domain is not configured. `DomainNotice` shows that. */
export function isOff({ error }: { readonly error: unknown }): boolean {
  return error !== undefined && describeError(error).reason === "DOMAIN_OFF";
}
