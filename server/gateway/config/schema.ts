import { z } from "zod";
import type { ConfigOf } from "../../config/config-of.ts";
import { gatewayKeys } from "../../config/gateway-keys.ts";
import { systemDomains } from "../../domains/domains.ts";

type DomainKeys = {
  readonly [Domain in (typeof systemDomains)[number] as Domain["name"]]: z.ZodExactOptional<
    Domain["config"]["schema"]
  >;
};

const domainKeys = Object.fromEntries(
  systemDomains.map(({ name, config: { schema, description } }) => [
    name,
    schema.exactOptional().meta({ description }),
  ]),
) as unknown as DomainKeys;

/** Keys of the systems that belong to one host. A hub has none of them. */
const hostBoundKeys = systemDomains.filter(({ isHostBound }) => isHostBound).map(({ name }) => name);

/** Returns the configured domains that belong to this host. */
export function hostSystemsOf(config: Partial<Config>): readonly string[] {
  return hostBoundKeys.filter((name) => config[name] !== undefined);
}

/** Every key of the file, the environment and the flags. docs/reference/configuration.md is generated from it. */
export const configSchema = z
  .strictObject({ ...gatewayKeys, ...domainKeys })
  .superRefine(({ fleet, ...config }, context) => {
    const configured =
      fleet.hub === undefined ? [] : hostBoundKeys.filter((name) => config[name] !== undefined);
    for (const name of configured) {
      const message = `expected no ${name}, because this gateway is a hub (\`fleet.hub\`): configure ${name} on the hosts that join it`;
      context.addIssue({ code: "custom", path: [name], message });
    }
    if (config.storeBackups !== undefined && config.store !== "sqlite") {
      const message = "expected no storeBackups, because the store is PostgreSQL: use pg_dump";
      context.addIssue({ code: "custom", path: ["storeBackups"], message });
    }
  });

/** The whole configuration with every default filled in. */
export type Config = ConfigOf<typeof configSchema>;
