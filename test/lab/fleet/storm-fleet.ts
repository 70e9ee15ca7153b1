import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Test } from "tap";
import { FleetService, MembershipService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { createMemberProcess, type MemberProcess } from "../../chaos/fleet/member-process.ts";
import { adminPassword } from "../../server/harness/gateway-under-test.ts";
import { rpcErrorFrom } from "../../server/harness/rpc-error.ts";
import { until } from "../../server/harness/until.ts";
import { type PostgresCluster, startPostgres } from "../postgres/postgres.ts";
import { createNetwork, type NetworkMember } from "./network.ts";

/** A gateway of the storm, in its own namespace. */
export interface StormMember extends MemberProcess {
  readonly name: string;
  readonly network: NetworkMember;
}

export interface StormHub extends StormMember {
  /** `host:port` for agents. */
  readonly agentsAddress: string;
}

export interface StormFleet {
  readonly hubs: readonly StormHub[];
  readonly agents: readonly StormMember[];
  readonly database: PostgresCluster & { readonly network: NetworkMember };
  /** Returns a client of a host through a hub. Odd turns address the host by path, even ones by header. */
  clientOf<S extends DescService>(service: S, hub: StormHub, host: string, turn: number): Client<S>;
  /** Reports whether an agent is connected to a hub, as both see it. */
  isConnected(agent: StormMember, hub: StormHub): Promise<boolean>;
}

/** Starts hubs on one PostgreSQL and sandboxes that have joined them, each in its own network namespace. */
export async function startStormFleet(
  t: Test,
  directory: string,
  counts: { readonly hubs: number; readonly agents: number },
): Promise<StormFleet> {
  const network = await createNetwork(t);
  const databaseNetwork = await network.addMember();
  const database = { ...(await startPostgres(t, databaseNetwork)), network: databaseNetwork };
  const store = await database.createDatabase();
  const keyFile = join(directory, "key");
  writeFileSync(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  const socketOf = (name: string) => join(directory, name, "api.sock");

  async function createHub(name: string): Promise<StormHub> {
    const own = await network.addMember();
    const agentsAddress = `${own.address}:8443`;
    const settings = {
      host: name,
      store,
      keyFile,
      // Reached by a file, so that the callers are not part of the network.
      listen: [{ address: `unix:${socketOf(name)}` }],
      fleet: { hub: { listen: agentsAddress, addresses: [agentsAddress] } },
    };
    const { launcher } = own;
    const process = createMemberProcess(t, join(directory, name), settings, { isReal: true, launcher });
    return { ...process, name, network: own, agentsAddress };
  }

  async function createAgent(name: string): Promise<StormMember> {
    const own = await network.addMember();
    const { launcher } = own;
    const process = createMemberProcess(t, join(directory, name), { host: name }, { launcher });
    return { ...process, name, network: own };
  }

  const numbered = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
  const hubs: StormHub[] = [];
  for (const number of numbered(counts.hubs)) {
    hubs.push(await createHub(`hub-${number}`));
  }
  await Promise.all(hubs.map((hub) => hub.start()));
  const [first] = hubs as [StormHub];
  const agents: StormMember[] = [];
  for (const number of numbered(counts.agents)) {
    agents.push(await createAgent(`node-${number}`));
  }
  // A few at a time: the start of a process needs the processors.
  const waiting = [...agents];
  const startWaiting = async () => {
    for (let agent = waiting.shift(); agent !== undefined; agent = waiting.shift()) {
      await agent.start();
      await letJoin(first, agent);
    }
  };
  await Promise.all(Array.from({ length: 4 }, startWaiting));
  const authorization = `Bearer ${await logIn(socketOf(first.name))}`;

  const timeoutMs = 2000;
  async function isConnected(agent: StormMember, hub: StormHub): Promise<boolean> {
    const { membership } = await agent.admin(MembershipService).getMembership({}, { timeoutMs });
    const { hosts } = await hub.admin(FleetService).listHosts({}, { timeoutMs });
    return (
      membership?.hubs.some(({ address, connected }) => connected && address === hub.agentsAddress) ===
        true && hosts.some(({ name, connected }) => connected && name === agent.name)
    );
  }

  const fleet: StormFleet = {
    hubs,
    agents,
    database,
    isConnected,
    clientOf(service, hub, host, turn) {
      const byPath = turn % 2 === 1;
      const authorize: Interceptor = (next) => (request) => {
        request.header.set("authorization", authorization);
        if (!byPath) {
          request.header.set("hostplane-host", host);
        }
        return next(request);
      };
      const transport = createConnectTransport({
        httpVersion: "1.1",
        baseUrl: `http://localhost${byPath ? `/hosts/${host}` : ""}`,
        nodeOptions: { socketPath: socketOf(hub.name) },
        interceptors: [authorize],
      });
      return createClient(service, transport);
    },
  };
  await untilAllConnected(fleet);
  return fleet;
}

/** Lets an agent join. On a busy machine that may take longer than the agent waits: then it begins again. */
async function letJoin(hub: StormHub, { name, admin }: StormMember): Promise<void> {
  const hosts = hub.admin(FleetService);
  await until(async () => {
    const { token } = await hosts.createHostToken({});
    try {
      await admin(MembershipService).joinFleet({ token, name });
      return true;
    } catch (error) {
      if (rpcErrorFrom(error).code !== "UNAVAILABLE") {
        throw error;
      }
      await hosts.removeHost({ name }).catch(() => {});
      return false;
    }
  });
}

/** Resolves when every agent is connected to every hub. */
export async function untilAllConnected({ agents, hubs, isConnected }: StormFleet): Promise<void> {
  for (const agent of agents) {
    for (const hub of hubs) {
      await until(() => isConnected(agent, hub).catch(() => false));
    }
  }
}

async function logIn(socketPath: string): Promise<string> {
  const transport = createConnectTransport({
    httpVersion: "1.1",
    baseUrl: "http://localhost",
    nodeOptions: { socketPath },
  });
  const login = { username: "admin", password: adminPassword };
  return (await createClient(AuthService, transport).login(login)).token;
}

/** Returns the resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
