import { readFileSync } from "node:fs";
import type { GatewayOptions } from "../../gateway/gateway-options.ts";

/**
 * Reads the secrets that are not part of the configuration: the master key from HOSTPLANE_KEY, and the first admin's password
 * from HOSTPLANE_ADMIN_PASSWORD or from the file named by HOSTPLANE_ADMIN_PASSWORD_FILE, as systemd credentials and container
 * secrets are passed. A newline at the end of the file is not part of the password.
 * @throws Error when both are set, or the file cannot be read
 */
export function gatewaySecrets(env: NodeJS.ProcessEnv): GatewayOptions["secrets"] {
  const { HOSTPLANE_KEY: key, HOSTPLANE_ADMIN_PASSWORD: password, HOSTPLANE_ADMIN_PASSWORD_FILE: file } = env;
  if (!file) {
    return { key, adminPassword: password };
  }
  if (password) {
    throw new Error("set HOSTPLANE_ADMIN_PASSWORD or HOSTPLANE_ADMIN_PASSWORD_FILE, not both");
  }
  try {
    return { key, adminPassword: readFileSync(file, "utf8").replace(/\r?\n$/, "") };
  } catch (cause) {
    throw new Error(`cannot read ${file} (HOSTPLANE_ADMIN_PASSWORD_FILE)`, { cause });
  }
}
