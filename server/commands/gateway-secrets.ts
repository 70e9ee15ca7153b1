import { readFileSync } from "node:fs";
import type { GatewayOptions } from "../gateway.ts";

/**
 * The secrets that stand in no configuration: the master key of HOSTPLANE_KEY, and the first admin's password of
 * HOSTPLANE_ADMIN_PASSWORD, or of the file that HOSTPLANE_ADMIN_PASSWORD_FILE names, as credentials of systemd and secrets of
 * containers are handed over. A newline at the file's end is not of the password.
 * @throws Error when both are given, or the file cannot be read
 */
export function gatewaySecrets(env: NodeJS.ProcessEnv): GatewayOptions["secrets"] {
  const { HOSTPLANE_KEY: key, HOSTPLANE_ADMIN_PASSWORD: password, HOSTPLANE_ADMIN_PASSWORD_FILE: file } = env;
  if (!file) {
    return { key, adminPassword: password };
  }
  if (password) {
    throw new Error("give HOSTPLANE_ADMIN_PASSWORD or HOSTPLANE_ADMIN_PASSWORD_FILE, not both");
  }
  try {
    return { key, adminPassword: readFileSync(file, "utf8").replace(/\r?\n$/, "") };
  } catch (cause) {
    throw new Error(`the file ${file} of HOSTPLANE_ADMIN_PASSWORD_FILE cannot be read`, { cause });
  }
}
