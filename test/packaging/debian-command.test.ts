import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Test, test } from "tap";
import { root, start } from "../server/cli/run-hostplane.ts";

const printed = ["HOSTPLANE_CONFIG", "STATE_DIRECTORY", "RUNTIME_DIRECTORY"];

/** Installs the command below a directory, with a Node that prints its arguments and the command's variables. */
async function installCommand(t: Test): Promise<{ readonly etc: string; readonly run: typeof start }> {
  const directory = t.testdir({
    etc: {},
    node: `#!/bin/sh\necho "$@" ${printed.map((name) => `"$${name}"`).join(" ")}\n`,
  });
  const text = await readFile(join(root, "packaging/debian-command.sh"), "utf8");
  const command = join(directory, "hostplane");
  await writeFile(
    command,
    text.replaceAll("/etc/hostplane", join(directory, "etc")).replaceAll("/usr/lib/hostplane", directory),
  );
  await chmod(command, 0o755);
  await chmod(join(directory, "node"), 0o755);
  await mkdir(join(directory, "bin"));
  const none = Object.fromEntries(printed.map((name) => [name, undefined]));
  return {
    etc: join(directory, "etc"),
    run: (args, options) => start([command, ...args], { env: { ...none, ...options?.env } }),
  };
}

test("the command of the Debian package has the unit's configuration, data and environment", async (t) => {
  const { etc, run } = await installCommand(t);
  const unit = await readFile(join(root, "deploy/systemd/hostplane.service"), "utf8");
  t.match(unit, /^StateDirectory=hostplane$/m);
  t.match(unit, /^RuntimeDirectory=hostplane$/m);
  const state = " /var/lib/hostplane /run/hostplane\n";
  t.match((await run(["status"]).ended).stdout, new RegExp(`hostplane.js status ${state}$`), "no file yet");
  await writeFile(join(etc, "hostplane.yaml"), "");
  t.match((await run(["status"]).ended).stdout, `hostplane.js status ${etc}/hostplane.yaml${state}`);
  await writeFile(join(etc, "environment"), "");
  t.match((await run(["status"]).ended).stdout, `--env-file=${etc}/environment`);
});

test("variables override its defaults, and a sandbox has none of them", async (t) => {
  const { etc, run } = await installCommand(t);
  await writeFile(join(etc, "hostplane.yaml"), "");
  const env = { HOSTPLANE_CONFIG: "/a", STATE_DIRECTORY: "/b", RUNTIME_DIRECTORY: "/c" };
  t.match((await run(["status"], { env }).ended).stdout, / \/a \/b \/c\n$/);
  t.match((await run(["serve", "--sandbox"]).ended).stdout, /hostplane\.js serve --sandbox +\n$/);
});
