import { InfraError } from "../../adapters/host/infra-error.ts";
import { domainReasons } from "../domain/reasons.ts";

/**
 * Returns the error of every call that needs backups while they are not configured.
 * @param configKeys configuration keys that would enable them, e.g. `volumes.backup`
 */
export function backupsOff(...configKeys: readonly string[]): InfraError {
  const keys = configKeys.map((key) => `\`${key}\``).join(" or ");
  return new InfraError(domainReasons.DOMAIN_OFF, `backups are off: set ${keys} in the configuration`);
}
