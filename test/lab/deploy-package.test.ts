import { cp, mkdir, mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import tap, { test } from "tap";
import { root, start } from "../server/cli/run-hostplane.ts";

const timeout = 600_000;
tap.setTimeout(timeout);

/** npm prints JSON after the output of the build. */
const jsonOf = (stdout: string) => JSON.parse(stdout.slice(stdout.search(/^\[$/m)));

test("npm pack creates a file that installs globally, runs, and cannot be published", {
  timeout,
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-package-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const env = {
    npm_config_loglevel: "error",
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  };
  const run = async (cwd: string, ...args: readonly string[]) => {
    const startedMs = performance.now();
    const { code, stdout, stderr } = await start(args, { cwd, env }).ended;
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    t.equal(code, 0, `${args.join(" ")} (${seconds} s)${code === 0 ? "" : (stdout + stderr).slice(-2000)}`);
    return stdout;
  };

  // Built in a copy, because other tests may be running the files in dist/.
  const source = join(directory, "source");
  await mkdir(source);
  const notTaken = /^(\.git|\.tap|\.ci|node_modules|dist|data|test)$/;
  for (const name of (await run(root, "git", "ls-files", "--cached")).split("\n")) {
    const [top = ""] = name.split("/");
    if (name !== "" && !notTaken.test(top)) {
      await cp(join(root, name), join(source, name));
    }
  }
  await symlink(join(root, "node_modules"), join(source, "node_modules"));
  const packed: readonly {
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[] = jsonOf(await run(source, "npm", "pack", "--json"));
  const file = join(source, packed[0]?.filename ?? "");
  const mib = (await stat(file)).size / 2 ** 20;
  t.comment(`${mib.toFixed(1)} MiB, ${packed[0]?.files.length} files`);
  t.ok(mib < 5, `${mib} MiB`);
  const paths = new Set(packed[0]?.files.map(({ path }) => path));
  for (const path of [
    "bin/hostplane.js",
    "bin/healthcheck.js",
    "deploy/systemd/hostplane.service",
    "deploy/kubernetes/gateway.yaml",
    "dist/server/main.js",
    "dist/dashboard/index.html",
    "docs/how-to/deploy.md",
  ]) {
    t.ok(paths.has(path), path);
  }

  const user = join(directory, "user");
  await mkdir(user);
  const prefix = join(directory, "prefix");
  const install = ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--global"];
  await run(source, ...install, "--prefix", prefix, file);
  const client = `import("${join(prefix, "lib/node_modules/hostplane/dist/client/client.js")}")`;
  const print = `${client}.then((all) => console.log(typeof all.createHostplaneClient))`;
  t.equal((await run(user, process.execPath, "--eval", print)).trim(), "function");

  const bin = join(prefix, "bin/hostplane");
  t.match(await run(user, bin, "version"), /^hostplane \d/);
  t.match(await run(user, bin, "completion", "bash"), /complete -F _hostplane hostplane/);
  // A registry that is not there: npm must refuse before it connects. A dry run would not refuse.
  const nowhere = ["--registry=http://127.0.0.1:9/", "--//127.0.0.1:9/:_authToken=x", "--fetch-retries=0"];
  const published = await start(["npm", "publish", ...nowhere, file], { cwd: user, env }).ended;
  t.match(published, { code: 1, stderr: /EPRIVATE/ }, "the file cannot be published by accident");

  const gateway = start([bin, "serve", "--sandbox", "--listen", "127.0.0.1:0"], { cwd: user, env });
  t.teardown(() => gateway.child.kill("SIGKILL"));
  const [, url = ""] = await gateway.untilPrinted(/(http:\/\/127\.0\.0\.1:\d+)/);
  const [, token = ""] = await gateway.untilPrinted(/Bearer ([\w.-]+)/);
  const answer = await fetch(`${url}/proto.VGService/GetLVList`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  t.match(await answer.text(), /sandbox-web/);
  t.match(await (await fetch(url)).text(), /<script type="module"/, "the dashboard");
  t.equal((await fetch(`${url}/openapi.json`)).status, 200);
  gateway.child.kill("SIGTERM");
  t.equal((await gateway.ended).code, 0);
});
