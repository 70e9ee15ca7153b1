import type { FastifyBaseLogger } from "fastify";
import type { z } from "zod";
import type { DomainSystem, Environment, SystemDomain } from "../domain/define-domain.ts";
import type { DemoWorld } from "../domain/demo-world.ts";
import type { Inspection } from "../domain/inspection.ts";
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
  const environment = environmentOf(config, (event) => logger.debug({ tool: event }, "tool"));
  return openAll(async (domain) => {
    const settings: unknown = config[domain.name];
    return settings === undefined ? undefined : domain.openReal(settings, environment);
  });
}

/**
 * Creates systems in memory for all domains; for a hub, without those that belong to a host.
 * @param world the demo world; absent: a quiet sandbox
 */
export function openSandboxSystems(world?: DemoWorld, isHub = false): Promise<Systems> {
  return openAll(async (domain) =>
    isHub && domain.isHostBound === true ? undefined : domain.openSandbox(world),
  );
}

/** Creates doctor's checks of the configured systems. */
export async function inspectSystems(config: Config): Promise<Inspection> {
  const environment = environmentOf(config, () => {});
  const inspections: Inspection[] = [];
  for (const domain of all) {
    const settings: unknown = config[domain.name];
    if (settings !== undefined) {
      inspections.push(await domain.inspect(settings, environment));
    }
  }
  return {
    inspectors: inspections.flatMap(({ inspectors }) => inspectors),
    close: async () => void (await Promise.all(inspections.map(({ close }) => close()))),
  };
}

function environmentOf({ data, host, limits }: Config, onToolEnd: Environment["onToolEnd"]): Environment {
  const tools = { maxRunning: limits.tools, maxWaiting: limits.toolsWaiting };
  return { dataDirectory: data, host, tools, onToolEnd };
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
