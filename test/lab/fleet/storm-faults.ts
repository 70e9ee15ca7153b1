import { setTimeout as delay } from "node:timers/promises";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import type { Random } from "../../chaos/random.ts";
import { until } from "../../server/harness/until.ts";
import type { StormFleet, StormHub, StormMember } from "./storm-fleet.ts";

/** What the faults have caused. */
export interface FaultRecord {
  readonly counts: Map<string, number>;
  /** From the end of a fault to the connection of all agents, in milliseconds, by fault. */
  readonly backAfterMs: { readonly fault: string; readonly ms: number }[];
  /** Operations that agents have begun by themselves while no hub ran. */
  alone: number;
}

export function createFaultRecord(): FaultRecord {
  return { counts: new Map(), backAfterMs: [], alone: 0 };
}

/** A fault, until `end` repairs it. */
interface Fault {
  readonly name: string;
  begin(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Breaks random parts of a fleet, one after the other, and waits after each until the agents that it has cut off are connected
 * again. A fault lasts at most `faultMs`. Several may run at once: those of agents together with one of the others.
 */
export async function breakParts(
  fleet: StormFleet,
  { faults, faultMs }: { readonly faults: number; readonly faultMs: number },
  random: Random,
  record: FaultRecord,
): Promise<void> {
  /** Agents and hubs that a fault affects now. */
  const broken = new Set<StormMember>();
  let left = faults;

  async function breakAgents(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const agent = random.pick(fleet.agents.filter((each) => !broken.has(each)));
      broken.add(agent);
      await cause(agentFault(agent), [], [agent]);
      broken.delete(agent);
    }
  }

  async function breakCentre(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const { fault, hubs } = centreFault();
      await cause(fault, hubs, fleet.agents);
    }
  }

  async function cause(
    { name, begin, end }: Fault,
    hubs: readonly StormHub[],
    agents: readonly StormMember[],
  ): Promise<void> {
    record.counts.set(name, (record.counts.get(name) ?? 0) + 1);
    for (const hub of hubs) {
      broken.add(hub);
    }
    await begin();
    await delay(random.int(200, faultMs));
    await end();
    for (const hub of hubs) {
      broken.delete(hub);
    }
    const sinceMs = performance.now();
    await untilBack(agents);
    record.backAfterMs.push({ fault: name, ms: Math.round(performance.now() - sinceMs) });
  }

  /** Resolves when agents are connected to all hubs, except those that another fault affects. */
  async function untilBack(agents: readonly StormMember[]): Promise<void> {
    const isOther = (agent: StormMember) => agents.length > 1 && broken.has(agent);
    for (const agent of agents) {
      for (const hub of fleet.hubs) {
        await until(
          async () =>
            isOther(agent) || broken.has(hub) || (await fleet.isConnected(agent, hub).catch(() => false)),
        );
      }
    }
  }

  function agentFault(agent: StormMember): Fault {
    return random.pick<Fault>([
      { name: "agent isolated", begin: agent.network.isolate, end: agent.network.heal },
      { name: "agent unplugged", begin: agent.network.unplug, end: agent.network.heal },
      { name: "agent killed", begin: agent.kill, end: agent.start },
      {
        name: "agent stopped",
        begin: async () => agent.signal("SIGSTOP"),
        end: async () => agent.signal("SIGCONT"),
      },
    ]);
  }

  function centreFault(): { readonly fault: Fault; readonly hubs: readonly StormHub[] } {
    const hub = random.pick(fleet.hubs);
    const { database, hubs } = fleet;
    const ofHub: readonly Fault[] = [
      { name: "hub killed", begin: hub.kill, end: hub.start },
      { name: "hub isolated", begin: hub.network.isolate, end: hub.network.heal },
      { name: "hub unplugged", begin: hub.network.unplug, end: hub.network.heal },
    ];
    const ofDatabase: readonly Fault[] = [
      { name: "database killed", begin: database.kill, end: database.start },
      { name: "database isolated", begin: database.network.isolate, end: database.network.heal },
    ];
    const allHubs: Fault = {
      name: "all hubs killed",
      async begin() {
        await Promise.all(hubs.map(({ kill }) => kill()));
        await workAlone();
      },
      end: async () => void (await Promise.all(hubs.map(({ start }) => start()))),
    };
    return random.pick([
      { fault: random.pick(ofHub), hubs: [hub] },
      { fault: random.pick(ofDatabase), hubs: [] },
      { fault: allHubs, hubs },
    ]);
  }

  /** Every agent works on without a hub. */
  async function workAlone(): Promise<void> {
    const agents = fleet.agents.filter((each) => !broken.has(each));
    for (const agent of agents) {
      record.alone += 1;
      const reference = `localhost/${agent.name}/alone:${record.alone}`;
      await agent
        .admin(PodService)
        .pullImage({ reference })
        .catch((error: unknown) => {
          // It may have been broken meanwhile.
          if (!broken.has(agent)) {
            throw error;
          }
        });
    }
  }

  await Promise.all([breakAgents(), breakAgents(), breakCentre()]);
}
