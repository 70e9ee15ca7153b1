import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "../..");
const rolldown = join(root, "node_modules/rolldown/bin/cli.mjs");

/** argv of a server that listens on the port of loopback, and keeps what it keeps in the directory. */
export type ServerArgv = (port: number, directory: string) => [string, ...string[]];

/** Node as it answers by itself. */
export const bareServer: ServerArgv = (port) => [
  process.execPath,
  "-e",
  `require("node:http").createServer((_, answer) => answer.end("ok")).listen(${port}, "127.0.0.1")`,
];

/** A sandbox as `npm start` runs it, of these sources built anew; what Node compiles of it is kept beside it. */
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
  return (port, data) => [
    "env",
    `XDG_CACHE_HOME=${cache}`,
    process.execPath,
    "--max-semi-space-size=4",
    ...nodeFlags,
    join(directory, "bin/hostplane.js"),
    "serve",
    "--sandbox",
    "--listen",
    `127.0.0.1:${port}`,
    "--data",
    data,
  ];
}
