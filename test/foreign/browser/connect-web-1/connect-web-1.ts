import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cacheDirectory, type ForeignTool, foreignTool, install } from "../../foreign-tool.ts";

const root = resolve(import.meta.dirname, "../../../..");
const lockFile = "package-lock.json";

/**
 * A directory in the cache with connect-web 1.x below `node_modules` and code generated for it below `gen`. They cannot be
 * dependencies of the project, because 1.x needs version 1 of packages that the project has in version 2.
 */
export function connectWeb1(): Promise<ForeignTool> {
  return foreignTool("connect-web-1", async () => {
    const directory = join(cacheDirectory, "connect-web-1");
    const installed = join(directory, "installed.json");
    const lock = join(import.meta.dirname, lockFile);
    const [expected, had] = await Promise.all([
      readFile(lock, "utf8"),
      readFile(installed, "utf8").catch(() => ""),
    ]);
    if (expected !== had) {
      await installInto(directory);
      await copyFile(lock, installed);
    }
    return directory;
  });
}

async function installInto(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  for (const name of ["package.json", lockFile]) {
    await copyFile(join(import.meta.dirname, name), join(directory, name));
  }
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund"];
  await install("npm ci of connect-web 1.x", "npm", ["ci", "--prefix", directory, ...quiet]);
  const plugins = ["protoc-gen-es", "protoc-gen-connect-es"].map((name) => ({
    local: join(directory, "node_modules/.bin", name),
    out: join(directory, "gen"),
    opt: "target=js",
  }));
  const template = JSON.stringify({ version: "v2", plugins });
  const buf = join(root, "tools/node_modules/.bin/buf");
  await install("code for connect-web 1.x", buf, ["generate", "--template", template, join(root, "proto")]);
}
