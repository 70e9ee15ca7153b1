import type { FastifyBaseLogger } from "fastify";
import type { z } from "zod";
import type { DomainSystem, Environment, SystemDomain } from "../domain/define-domain.ts";
import { type DomainSystems, systemDomains } from "../domains/domains.ts";
import type { Config } from "./config/schema.ts";

/** The systems behind the domains; absent where a domain is off. */
export interface Systems extends DomainSystems {
  close(): Promise<void>;
}

type AnyDomain = SystemDomain<z.ZodType, DomainSystem> & { readonly name: keyof DomainSystems };
const all = systemDomains as readonly unknown[] as readonly AnyDomain[];

/** Opens the configured systems. The code of others is not loaded. */
export async function openRealSystems(config: Config, logger: FastifyBaseLogger): Promise<Systems> {
  const environment: Environment = {
    dataDirectory: config.data,
    host: config.host,
    tools: { maxRunning: config.limits.tools, maxWaiting: config.limits.toolsWaiting },
    onToolEnd: (event) => logger.debug({ tool: event }, "tool"),
  };
  return openAll(async (domain) => {
    const settings: unknown = config[domain.name];
    return settings === undefined ? undefined : domain.openReal(settings, environment);
  });
}

/** Creates systems in memory for all domains. */
export function openSandboxSystems(): Promise<Systems> {
  return openAll((domain) => domain.openSandbox());
}

/** Closes what was opened if one of them fails. */
async function openAll(open: (domain: AnyDomain) => Promise<DomainSystem | undefined>): Promise<Systems> {
  const opened = new Map<string, DomainSystem>();
  const close = async () => void (await Promise.all([...opened.values()].map((system) => system.close())));
  try {
    for (const domain of all) {
      const system = await open(domain);
      if (system !== undefined) {
        opened.set(domain.name, system);
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { ...(Object.fromEntries(opened) as DomainSystems), close };
}
