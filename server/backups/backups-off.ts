import { InfraError } from "../../adapters/host/infra-error.ts";

/**
 * What everything that needs backups ends with while they are not configured.
 * @param configKeys where they could be, e.g. `volumes.backup`
 */
export function backupsOff(...configKeys: readonly string[]): InfraError {
  const keys = configKeys.map((key) => `\`${key}\``).join(" or ");
  return new InfraError("DOMAIN_OFF", `backups are off: set ${keys} in the configuration`);
}
