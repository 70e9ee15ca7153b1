import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { type ServerArgv, startServer } from "./started-server.ts";

const root = resolve(import.meta.dirname, "../../..");
const rolldown = join(root, "node_modules/rolldown/bin/cli.mjs");

/** A start compiles over a hundred files. bin/hostplane.js stores the result ten seconds later. */
const leastKept = 50;
const keptWithinMs = 60_000;

/** Password of the first admin of a sandbox in a benchmark. */
export const sandboxPassword = "the admin of a bench";

/** A bare Node HTTP server. */
export const bareServer: ServerArgv = (port) => [
  process.execPath,
  "-e",
  `require("node:http").createServer((_, answer) => answer.end("ok")).listen(${port}, "127.0.0.1")`,
];

/**
 * Builds these sources again and returns the sandbox as `npm start` runs it. It has been started once, so that Node's compile
 * cache is filled, as it is at every start but the first.
 */
export async function buildSandbox(
  opened: AsyncDisposableStack,
  nodeFlags: readonly string[] = [],
): Promise<ServerArgv> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true }));
  const dist = join(directory, "dist");
  await promisify(execFile)(
    process.execPath,
    [rolldown, "-c", "--log-level", "warn", "-d", join(dist, "server")],
    { cwd: root },
  );
  for (const name of ["package.json", "bin"]) {
    await cp(join(root, name), join(directory, name), { recursive: true });
  }
  for (const name of ["node_modules", "gen"]) {
    await symlink(join(root, name), join(directory, name));
  }
  const cache = join(directory, "cache");
  await mkdir(cache);
  // `npm test` sets the first variable, and it overrides the second.
  const environment = ["--unset=NODE_COMPILE_CACHE", `XDG_CACHE_HOME=${cache}`];
  const argv = sandboxArgv(join(directory, "bin/hostplane.js"), () => environment, nodeFlags);
  const { stop } = await startServer(argv);
  try {
    await untilKept(cache);
  } finally {
    await stop();
  }
  return argv;
}

/** The sandbox of this checkout, built or not, with the tests' compile cache; for tests that do not measure speed. */
export const sourceSandbox: ServerArgv = sandboxArgv(
  join(root, "bin/hostplane.js"),
  (data) => [`XDG_CACHE_HOME=${data}`],
  [],
);

function sandboxArgv(
  launcher: string,
  environmentOf: (data: string) => readonly string[],
  nodeFlags: readonly string[],
): ServerArgv {
  return (port, data) => [
    "env",
    ...environmentOf(data),
    `HOSTPLANE_ADMIN_PASSWORD=${sandboxPassword}`,
    "MALLOC_ARENA_MAX=1",
    process.execPath,
    "--max-semi-space-size=4",
    ...nodeFlags,
    launcher,
    "serve",
    "--sandbox",
    "--sandbox-quiet",
    "--listen",
    `127.0.0.1:${port}`,
    "--data",
    data,
  ];
}

async function untilKept(cache: string): Promise<void> {
  const endsAtMs = performance.now() + keptWithinMs;
  while ((await readdir(cache, { recursive: true })).length < leastKept) {
    if (performance.now() > endsAtMs) {
      throw new Error("the sandbox did not fill Node's compile cache");
    }
    await delay(100);
  }
}
