import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { FleetService, MembershipService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { logIn } from "../../server/fleet/forward/fleet-under-test.ts";
import { freePort } from "../../server/harness/free-port.ts";
import { rpcErrorOf } from "../../server/harness/rpc-error.ts";
import { until } from "../../server/harness/until.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { createMemberProcess, type MemberProcess } from "./member-process.ts";

const deviceClass = "sandbox-ssd";

test("calls reach their host only, and hosts are back, while agents and the hub are killed and stopped", async (t) => {
  const directory = await makeDirectory(t);
  const listen = `127.0.0.1:${await freePort()}`;
  const hub = createMemberProcess(t, `${directory}/hub`, {
    host: "hub-1",
    fleet: { hub: { listen, addresses: [listen] } },
  });
  const names = ["node-1", "node-2"] as const;
  const agents = {
    "node-1": createMemberProcess(t, `${directory}/1`, { host: "node-1" }),
    "node-2": createMemberProcess(t, `${directory}/2`, { host: "node-2" }),
  };
  await Promise.all([hub, ...Object.values(agents)].map((member) => member.start()));
  for (const name of names) {
    const token = await hub.command("host", "token", "-o", "name");
    t.equal(await agents[name].command("host", "join", token, "-o", "name"), name);
  }
  await untilConnected(hub, names);
  let authorization = await logIn(hub.url());

  const to = (host: string) => ({ headers: { authorization, "hostplane-host": host } });
  const grpc = () => createGrpcTransport({ baseUrl: hub.url() });
  async function createByPath(host: string, name: string): Promise<number> {
    const { status } = await fetch(`${hub.url()}/hosts/${host}/proto.LVService/CreateLV`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ name, sizeGb: "1", deviceClass }),
    });
    return status;
  }
  /** Reads at the host itself, not through the hub. */
  async function volumesOn(host: keyof typeof agents): Promise<string[]> {
    const { volumes } = await agents[host].admin(VGService).getLVList({ deviceClass });
    return volumes.map(({ name }) => name);
  }
  async function assertOwnOnly(when: string): Promise<void> {
    for (const host of names) {
      const foreign = (await volumesOn(host)).filter(
        (name) => name.startsWith("node-") && !name.startsWith(host),
      );
      t.same(foreign, [], `${host} has no volume of the other one, ${when}`);
    }
  }

  for (const host of names) {
    t.equal(await createByPath(host, `${host}-path`), 200);
    await createClient(LVService, grpc()).createLV(
      { name: `${host}-grpc`, sizeGb: 1n, deviceClass },
      to(host),
    );
    const volumes = await volumesOn(host);
    t.ok(volumes.includes(`${host}-path`) && volumes.includes(`${host}-grpc`), `${host} has its volumes`);
  }
  await assertOwnOnly("after calls");

  /** Follows volumes of a host through the hub. Returns the error that ends the stream. */
  async function follow(host: string) {
    const stream = createClient(VGService, grpc()).watch({}, to(host))[Symbol.asyncIterator]();
    await stream.next();
    const ended = rpcErrorOf(
      (async () => {
        let isDone = false;
        while (!isDone) {
          isDone = (await stream.next()).done === true;
        }
      })(),
    );
    return { ended };
  }
  const unreachable = { code: "UNAVAILABLE", reason: "HOST_UNREACHABLE" };

  const killed = await follow("node-1");
  await agents["node-1"].kill();
  t.match(await killed.ended, unreachable, "a stream of a killed agent");
  t.not(await createByPath("node-1", "node-1-lost"), 200);
  await agents["node-1"].start();
  await measured(t, "an agent that was killed is connected again", () => untilConnected(hub, names));

  const stopped = await follow("node-2");
  agents["node-2"].signal("SIGSTOP");
  await measured(t, "a stream of a stopped agent ends", async () => {
    t.match(await stopped.ended, unreachable, "a stream of a stopped agent");
  });
  t.equal(await createByPath("node-1", "node-1-beside"), 200, "the other host is served");
  agents["node-2"].signal("SIGCONT");
  await measured(t, "an agent that was stopped is connected again", () => untilConnected(hub, names));

  await hub.kill();
  t.ok((await volumesOn("node-2")).length > 0, "an agent works on without its hub");
  await hub.start();
  await measured(t, "all agents are connected to a hub that was killed", () => untilConnected(hub, names));
  authorization = await logIn(hub.url());
  for (const host of names) {
    const { membership } = await agents[host].admin(MembershipService).getMembership({});
    t.equal(membership?.name, host);
    t.equal(await createByPath(host, `${host}-after`), 200);
    t.ok((await volumesOn(host)).includes(`${host}-after`));
  }
  await assertOwnOnly("after the kills");
});

async function untilConnected(hub: MemberProcess, names: readonly string[]): Promise<void> {
  await until(async () => {
    const { hosts } = await hub.admin(FleetService).listHosts({});
    const connected = new Set(hosts.flatMap(({ name, connected }) => (connected ? [name] : [])));
    return names.every((name) => connected.has(name));
  });
}

async function measured(
  t: { comment(text: string): void },
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  const sinceMs = performance.now();
  await work();
  t.comment(`${what}: after ${Math.round(performance.now() - sinceMs)} ms`);
}
