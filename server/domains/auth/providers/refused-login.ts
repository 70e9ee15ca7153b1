import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { authReasons } from "../reasons.ts";

/** Creates the error LOGIN_REFUSED. @param why a clause that names nothing secret */
export function refusedLogin(why: string, cause?: unknown): InfraError {
  const message = `the identity provider did not confirm the login: ${why}`;
  return new InfraError(authReasons.LOGIN_REFUSED, message, { cause });
}
