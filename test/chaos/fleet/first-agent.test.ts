import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { isLongForm } from "../../long-form.ts";
import { logIn } from "../../server/fleet/forward/fleet-under-test.ts";
import { freePort } from "../../server/harness/free-port.ts";
import { rpcErrorOf } from "../../server/harness/rpc-error.ts";
import { until } from "../../server/harness/until.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { createMemberProcess } from "./member-process.ts";

/** The first commit that has a fleet. Its agents state no version. */
const firstCommit = "f59d0ca9";
const root = resolve(import.meta.dirname, "../../..");
const git = (...args: readonly string[]) => promisify(execFile)("git", ["-C", root, ...args]);

const hasCommit = await git("cat-file", "-e", `${firstCommit}^{commit}`).then(
  () => true,
  () => false,
);
const skip = !isLongForm
  ? "only in the long form"
  : hasCommit
    ? false
    : `the clone has no commit ${firstCommit}`;

test("the first agent works under a hub of this version", { skip }, async (t) => {
  const directory = await makeDirectory(t);
  const checkout = join(directory, "first");
  await git("worktree", "add", "--detach", checkout, firstCommit);
  t.teardown(() => git("worktree", "remove", "--force", checkout));
  await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
  const listen = `127.0.0.1:${await freePort()}`;
  const hub = createMemberProcess(t, join(directory, "hub"), {
    host: "hub-1",
    fleet: { hub: { listen, addresses: [listen] } },
  });
  const program = join(checkout, "bin/hostplane.js");
  const agent = createMemberProcess(t, join(directory, "agent"), { host: "node-1" }, { program });
  await Promise.all([hub.start(), agent.start()]);
  const token = await hub.command("host", "token", "-o", "name");
  t.equal(await agent.command("host", "join", token, "-o", "name"), "node-1");
  await until(async () => {
    const { hosts } = await hub.admin(FleetService).listHosts({});
    return hosts[0]?.connected === true && hosts[0].report !== undefined;
  });
  const { hosts } = await hub.admin(FleetService).listHosts({});
  t.match(hosts, [{ name: "node-1", problem: "", report: { backends: [{}] } }]);

  const authorization = await logIn(hub.url());
  const to = { headers: { authorization, "hostplane-host": "node-1" } };
  const transport = createGrpcTransport({ baseUrl: hub.url() });
  const volumes = createClient(LVService, transport);
  await volumes.createLV({ name: "old", sizeGb: 1n }, to);
  t.match(await rpcErrorOf(volumes.createLV({ name: "old", sizeGb: 1n }, to)), { reason: "VOLUME_EXISTS" });
  const { volumes: listed } = await agent.admin(VGService).getLVList({});
  t.ok(listed.some(({ name }) => name === "old"));
  for await (const { freeBytes } of createClient(VGService, transport).watch({}, to)) {
    t.ok(freeBytes > 0n);
    break;
  }

  await hub.kill();
  await hub.start();
  await until(async () => (await hub.admin(FleetService).listHosts({})).hosts[0]?.connected === true);
});
