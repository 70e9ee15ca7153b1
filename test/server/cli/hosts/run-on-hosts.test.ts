import { test } from "tap";
import { FleetService } from "../../../../gen/hostplane/v1/fleet_pb.ts";
import { InventoryService } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import {
  joinFleet,
  type MemberUnderTest,
  startHubUnderTest,
  startMemberUnderTest,
} from "../../fleet/fleet-under-test.ts";
import { until } from "../../harness/until.ts";
import { onTerminal, skip } from "../on-terminal.ts";
import { runInProcess } from "../run-in-process.ts";

const rackA = [{ name: "rack", value: "a" }];
const onRackA = ["--host-label", "rack=a"];

const targetOf = ({ data }: MemberUnderTest) => ["--data", data, "--sandbox"];

/** Starts a hub with two hosts that have a label, and one that has none. */
async function startFleet(t: Parameters<typeof startHubUnderTest>[0]) {
  const hub = await startHubUnderTest(t);
  const names = ["node-1", "node-2", "node-3"];
  const agents = await Promise.all(names.map(() => startMemberUnderTest(t, {})));
  for (const [index, agent] of agents.entries()) {
    await joinFleet(hub, agent, names[index] ?? "", index < 2 ? rackA : []);
  }
  const current = async () => {
    const { hosts } = await hub.admin(InventoryService).listResources({});
    return hosts.filter(({ reason, readTime }) => reason === "" && readTime !== undefined).length;
  };
  await until(async () => (await current()) === names.length);
  let connectedCount = names.length;
  /**
   * Returns how many hosts are connected, and have reported their domains. On a busy machine a connection may be lost; the agent
   * opens it again.
   */
  const connected = async () => {
    const { hosts } = await hub.admin(FleetService).listHosts({});
    return hosts.filter((host) => host.connected && host.report !== undefined).length;
  };
  return {
    hub,
    async stopSecond() {
      await agents[1]?.gateway.close();
      connectedCount -= 1;
    },
    /** Runs a command while all hosts are connected that have not been stopped. */
    async run(args: readonly string[]) {
      await until(async () => (await connected()) === connectedCount);
      return runInProcess([...args, ...targetOf(hub)]);
    },
  };
}

test("commands go to one host, to those of a label, or to all", async (t) => {
  const { hub, stopSecond, run } = await startFleet(t);
  const output = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await run(args);
    t.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    return stdout;
  };

  await t.test("one host, by its name", async (t) => {
    t.match(await run(["hypervisor", "list"]), { code: 1, stderr: /name one of its hosts/ });
    const created = await run(["volume", "create", "only-2", "--size", "1GiB", "--host", "node-2"]);
    t.match(created, { code: 0, stdout: /only-2/ });
    t.match(await output(["volume", "list", "--host", "node-2"]), /only-2/);
    t.notMatch(await output(["volume", "list", "--host", "node-1"]), /only-2/);
    t.match(await run(["volume", "list", "--host", "node-9"]), { code: 1, stderr: /no host "node-9"/ });
    t.match(await run(["user", "list", "--host", "node-1"]), { code: 2, stderr: /unknown option/ });
    t.match(await run(["volume", "list", "--host", "node-1", ...onRackA]), {
      code: 2,
      stderr: /cannot be used/,
    });
  });

  await t.test("lists of several hosts are one, with the host of each row", async (t) => {
    const table = await output(["volume", "list", ...onRackA]);
    t.match(table, /^HOST +NAME .*\nnode-1 /);
    t.match(table, /^node-2 +only-2 /m);
    t.notMatch(table, /node-3/);
    const rows: readonly { fleetHost: string; name: string }[] = JSON.parse(
      await output(["volume", "list", ...onRackA, "-o", "json"]),
    );
    t.same([...new Set(rows.map(({ fleetHost }) => fleetHost))], ["node-1", "node-2"]);
    t.same(
      rows.filter(({ name }) => name === "only-2").map(({ fleetHost }) => fleetHost),
      ["node-2"],
    );
    t.match(await output(["volume", "list", ...onRackA, "-o", "name"]), /^node-2 .*only-2$/m);
    t.match(await run(["volume", "list", "--host-label", "rack=z"]), {
      code: 1,
      stderr: /no host of the fleet has the label rack=z/,
    });
    t.match(await run(["volume", "list", "--host-label", "rack"]), {
      code: 2,
      stderr: /expected NAME=VALUE/,
    });
    t.match(await output(["volume", "show", "sandbox-web", ...onRackA]), /^host +node-1$/m);
  });

  await t.test("a change of several hosts is planned on each, and asked for once", async (t) => {
    const create = ["volume", "create", "everywhere", "--size", "1GiB", ...onRackA];
    t.match(await run(create), { code: 2, stderr: /changes several hosts: confirm it with --yes/ });
    const planned = await output([...create, "--dry-run"]);
    t.match(planned, /^node-1: plan: /m);
    t.match(planned, /^node-2: plan: /m);
    const done = await output([...create, "--yes"]);
    t.match(done, /^node-1: .*everywhere/m);
    t.match(done, /^node-2: .*everywhere/m);
    const failed = await run(["volume", "create", "only-2", "--size", "1GiB", ...onRackA, "--yes"]);
    t.match(failed, { code: 1, stdout: /^node-1: /, stderr: /node-2: .*exists/ }, "some fail");
  });

  await t.test("on a terminal a person sees each plan", skip, async (t) => {
    const remove = ["volume", "remove", "everywhere", ...onRackA, ...targetOf(hub)];
    const declined = await onTerminal(remove, [[/\[y\/N\] /, "\n"]]);
    t.match(declined, {
      code: 1,
      shown: /node-1: plan: [\s\S]*node-2: plan: [\s\S]*these 2 hosts\? \[y\/N\] [\s\S]*nothing was changed/,
    });
    t.match(await onTerminal(remove, [[/\[y\/N\] /, "y\n"]]), { code: 0 });
    t.notMatch(await output(["volume", "list", ...onRackA]), /everywhere/);
  });

  await t.test("what lists everything shows all hosts", async (t) => {
    t.match(await output(["get", "volume", "--search", "only-2 node-2"]), /^HOST .*\nnode-2 +volume +only-2/);
    t.notMatch(await output(["get", "volume", "--host", "node-2"]), /^HOST/);
    const { stdout } = await run(["status"]);
    t.match(stdout, /^HOST +CONNECTED /m);
    t.match(stdout, /^node-3 +yes /m);
    t.match(await run(["operation", "list"]), { code: 0 });
  });

  await t.test("names are completed", async (t) => {
    t.equal(
      await output(["__complete", "host", "volume", "list", ...targetOf(hub)]),
      "node-1\nnode-2\nnode-3\n",
    );
    const words = ["__complete", "volume", "volume", "show", "--host", "node-2", ...targetOf(hub)];
    t.match(await output(words), /^only-2$/m);
  });

  await t.test("a silent host fails its part, and its last resources stay listed", async (t) => {
    await stopSecond();
    const part = await run(["volume", "list", ...onRackA]);
    t.match(part, { code: 1, stdout: /^node-1 /m, stderr: /node-2: .*not connected/ });
    t.match(await run(["volume", "create", "x", "--size", "1GiB", ...onRackA, "--yes"]), {
      code: 1,
      stdout: /^node-1: .*x/,
      stderr: /node-2: .*not connected/,
    });
    t.match(await run(["get", "volume"]), { stdout: /^node-2 +volume /m, stderr: /node-2 .* are as of 20/ });
    t.match(await run(["status"]), {
      code: 1,
      stdout: /^problem: host node-2 cannot be reached: it is not connected/m,
    });
  });
});
