import { hostname } from "node:os";
import type { Config } from "./config/schema.ts";

/** Returns the name of this host: the configured one, or that of the operating system. */
export function hostNameOf({ host }: Pick<Config, "host">): string {
  return host ?? hostname();
}
