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

/** Every key of the file, the environment and the flags. docs/reference/configuration.md is generated from it. */
export const configSchema = z.strictObject({ ...gatewayKeys, ...domainKeys });

/** The whole configuration with every default filled in. */
export type Config = ConfigOf<typeof configSchema>;
