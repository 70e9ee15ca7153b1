import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "tap";
import { root, start } from "../server/cli/run-hostplane.ts";

const run = promisify(execFile);

/** Returns arguments that make the launcher see another version of Node. */
function pretendNode(version: string): string[] {
  const script = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  return ["--import", `data:text/javascript,${encodeURIComponent(script)}`];
}

/** Installs the package as npm would: only the paths in `files`, under node_modules. */
async function installBuilt(): Promise<{
  readonly launcher: string;
  readonly modules: string;
  remove(): Promise<void>;
}> {
  const dir = await mkdtemp(join(tmpdir(), "hostplane-install-"));
  const modules = join(dir, "node_modules");
  const installed = join(modules, "hostplane");
  await mkdir(installed, { recursive: true });
  await cp(join(root, "package.json"), join(installed, "package.json"));
  await cp(join(root, "bin"), join(installed, "bin"), { recursive: true });
  const rolldown = join(root, "node_modules/rolldown/bin/cli.mjs");
  const outDir = join(installed, "dist/server");
  await run(process.execPath, [rolldown, "-c", "--log-level", "warn", "-d", outDir], { cwd: root });
  // npm may leave it newer than the build.
  await cp(join(root, "gen/contract.binpb"), join(installed, "gen/contract.binpb"));
  for (const name of await readdir(join(root, "node_modules"))) {
    if (!name.startsWith(".")) {
      await symlink(join(root, "node_modules", name), join(modules, name));
    }
  }
  return {
    launcher: join(installed, "bin/hostplane.js"),
    modules,
    remove: () => rm(dir, { recursive: true }),
  };
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

test("the installed package", async (t) => {
  const { launcher, modules, remove } = await installBuilt();
  t.teardown(remove);
  const old = [process.execPath, ...pretendNode("20.20.2"), launcher];

  t.test("runs in this process when its Node is new enough", async (t) => {
    const ended = await start([process.execPath, launcher, "version"]).ended;
    t.match(ended, { code: 0, stdout: `hostplane ${version} (node ${process.versions.node})\n`, stderr: "" });
  });

  t.test(
    "caches compiled code only in a directory that no other user can write, and works without one",
    async (t) => {
      const caches = t.testdir({ open: { hostplane: { compiled: {} } } });
      const open = join(caches, "open/hostplane/compiled");
      await chmod(open, 0o777);
      const keptIn = async (cache: string) => {
        const { NODE_COMPILE_CACHE: _ofTheTests, CACHE_DIRECTORY: _ofAUnit, ...inherited } = process.env;
        const env = { ...inherited, XDG_CACHE_HOME: cache };
        const { stdout } = await run(process.execPath, [launcher, "version"], { env });
        t.match(stdout, version);
        return readdir(join(cache, "hostplane/compiled")).catch(() => []);
      };
      t.not((await keptIn(join(caches, "own"))).length, 0);
      t.same(await keptIn(join(caches, "open")), []);
      t.same(await keptIn("/dev/null"), []);
    },
  );

  t.test("serves from the built files", async (t) => {
    const gateway = start([process.execPath, launcher, "serve", "--sandbox", "--listen", "127.0.0.1:0"]);
    t.teardown(() => gateway.child.kill("SIGKILL"));
    const [, url] = await gateway.untilPrinted(/(http:\/\/\S+)\n/);
    t.equal((await fetch(`${url}/healthz`)).status, 200);
    gateway.child.kill("SIGTERM");
    t.equal((await gateway.ended).code, 0);
  });

  t.test("uses the bundled Node, and passes on output and exit code", async (t) => {
    t.match(await start([...old, "version"]).ended, {
      code: 0,
      stdout: new RegExp(`^hostplane ${version} `),
    });
    t.match(await start([...old, "xyzzy"]).ended, {
      code: 2,
      stderr: "hostplane: unknown command 'xyzzy'\n",
    });
  });

  t.test("forwards SIGTERM and exits with its child's code", async (t) => {
    const gateway = start([...old, "serve", "--sandbox", "--listen", "127.0.0.1:0"]);
    t.teardown(() => gateway.child.kill("SIGKILL"));
    const [, url = ""] = await gateway.untilPrinted(/(http:\/\/\S+)\n/);
    gateway.child.kill("SIGTERM");
    t.match(await gateway.ended, { code: 0, stderr: /"stopped"/ });
    await t.rejects(fetch(`${url}/healthz`), "no process is left behind");
  });

  t.test("when killed, it stops the gateway, which could otherwise keep the address", async (t) => {
    const gateway = start([...old, "serve", "--sandbox", "--listen", "127.0.0.1:0"]);
    const [, url = ""] = await gateway.untilPrinted(/(http:\/\/\S+)\n/);
    gateway.child.kill("SIGKILL");
    t.match(await gateway.ended, { stderr: /"stopped"/ });
    await t.rejects(fetch(`${url}/healthz`), "no process is left behind");
  });

  t.test("a signal to the whole process group is one signal", async (t) => {
    const argv = [...old, "serve", "--sandbox", "--listen", "127.0.0.1:0"];
    const gateway = start(argv, { detached: true });
    const group = -(gateway.child.pid ?? Number.NaN);
    t.teardown(() => gateway.child.exitCode ?? process.kill(group, "SIGKILL"));
    await gateway.untilPrinted(/curl/);
    process.kill(group, "SIGTERM");
    t.equal((await gateway.ended).code, 0);
  });

  t.test("when the child is killed, the launcher exits with 128 plus the signal number", async (t) => {
    const gateway = start([...old, "serve", "--sandbox", "--listen", "127.0.0.1:0"]);
    t.teardown(() => gateway.child.kill("SIGKILL"));
    const [, child] = await gateway.untilLogged(/"pid":(\d+)/);
    process.kill(Number(child), "SIGKILL");
    t.equal((await gateway.ended).code, 137);
  });

  t.test("reports which Node version it needs when none is bundled", async (t) => {
    for (const name of await readdir(modules)) {
      if (/^node-(bin-)?(linux|darwin)-/.test(name)) {
        await rm(join(modules, name));
      }
    }
    const { code, stdout, stderr } = await start([...old, "version"]).ended;
    t.equal(code, 1);
    t.equal(stdout, "");
    t.match(stderr, /^hostplane: needs Node 26 or newer, this is 20\.20\.2; install it, or reinstall .*\n$/);
  });

  await t.test("requires Node 26", async (t) => {
    for (const [node, code] of [
      ["16.20.2", 1],
      ["22.18.0", 1],
      ["23.11.0", 1],
      ["24.21.0", 1],
      ["25.9.0", 1],
      ["26.0.0", 0],
      ["100.0.0", 0],
    ] as const) {
      t.equal(
        (await start([process.execPath, ...pretendNode(node), launcher, "version"]).ended).code,
        code,
        node,
      );
    }
  });
});

test("runs from a checkout with every Node installed on this machine", async (t) => {
  const others = ["/usr/bin/node", "/usr/local/bin/node"].filter((path) => existsSync(path));
  for (const node of [process.execPath, ...others]) {
    const ended = await start([node, join(root, "bin/hostplane.js"), "version"]).ended;
    t.match(
      ended,
      { code: 0, stdout: new RegExp(`^hostplane ${version} \\(node \\d+\\.`), stderr: "" },
      node,
    );
  }
});

test("every bundled Node satisfies engines", async (t) => {
  const { engines, optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const numberOf = (text: string) => {
    const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
    return Number(major) * 1000 + Number(minor);
  };
  const names = Object.keys(optionalDependencies).filter((name) => name.startsWith("node-"));
  t.equal(names.length, 4);
  for (const name of names) {
    const locked: string = packages[`node_modules/${name}`].version;
    t.ok(numberOf(locked) >= numberOf(engines.node), `${name} ${locked}`);
  }
});
