import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { loadCore, pinned, serverCore } from "../load/pinned.ts";
import type { Target } from "../load/target.ts";
import { type BenchProcess, startBenchProcess } from "../servers/bench-process.ts";
import { buildSandbox, sandboxPassword } from "../servers/built-gateway.ts";
import { freePort, type StartedServer, startServer } from "../servers/started-server.ts";
import type { Agents } from "./agents.ts";
import { unlimitedCallers } from "./unlimited-callers.ts";

/** A hub as `npm start` runs it, and its hosts in another process. */
export interface FleetUnderBench {
  readonly agents: BenchProcess<Agents>;
  /** The hub; after `restart` another process. */
  hub(): StartedServer;
  /** Returns the hub with a new session of its admin. */
  target(): Promise<Target>;
  /** Adds hosts. Resolves when all are connected. */
  join(count: number): Promise<void>;
  /** Kills the hub, and starts it again with its data. Resolves when it answers. */
  restart(): Promise<void>;
  /** Resolves when this number of hosts is connected. */
  untilConnected(count: number): Promise<void>;
}

const pollMs = 5;

export async function openFleetUnderBench(
  opened: AsyncDisposableStack,
  nodeFlags: readonly string[] = [],
): Promise<FleetUnderBench> {
  const argvOf = await buildSandbox(opened, nodeFlags);
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true }));
  const address = `127.0.0.1:${await freePort()}`;
  const settings = [
    ["fleet.hub.listen", address],
    ["fleet.hub.addresses", address],
    ...Object.entries(unlimitedCallers.caller).map(([key, value]) => [`limits.caller.${key}`, value]),
  ];
  const start = () =>
    startServer((port) =>
      pinned(serverCore, [
        ...argvOf(port, directory),
        ...settings.flatMap(([key, value]) => ["--set", `${key}=${value}`]),
      ]),
    );
  let hub = await start();
  opened.defer(() => hub.stop());
  const agents = await startBenchProcess<Agents>(join(import.meta.dirname, "agents.ts"), [], loadCore);
  opened.defer(() => agents.stop());
  let joined = 0;

  const transport = () => createGrpcTransport({ baseUrl: `http://127.0.0.1:${hub.port}` });
  async function logIn(): Promise<string> {
    const { token } = await createClient(AuthService, transport()).login({
      username: "admin",
      password: sandboxPassword,
    });
    return token;
  }

  async function untilConnected(count: number): Promise<void> {
    while ((await agents.query("connected")) < count) {
      await delay(pollMs);
    }
  }

  return {
    agents,
    hub: () => hub,
    target: async () => ({ port: hub.port, token: await logIn() }),
    async join(count) {
      const headers = { authorization: `Bearer ${await logIn()}` };
      const client = createClient(FleetService, transport());
      const tokens = [];
      for (let left = count; left > 0; left -= 1) {
        tokens.push((await client.createHostToken({}, { headers })).token);
      }
      await agents.query("join", tokens);
      joined += count;
      await untilConnected(joined);
    },
    async restart() {
      process.kill(hub.pid, "SIGKILL");
      await hub.stop();
      hub = await start();
    },
    untilConnected,
  };
}
