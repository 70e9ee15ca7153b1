import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import tap from "tap";
import { runTool } from "./tool-process.ts";

/** Where tools are kept from one run to the next. */
export const cacheDirectory = join(tmpdir(), "hostplane-foreign");

export interface ForeignTool {
  /** Where it is; empty when it cannot be had. */
  readonly path: string;
  /** For tap: why tests with it are skipped, or false. */
  readonly skip: string | false;
}

/**
 * A program of somebody else's that tests need.
 * @param find returns its path, after having installed it where it must be
 * @throws Error when it cannot be had and HOSTPLANE_LAB=required
 */
export async function foreignTool(name: string, find: () => Promise<string>): Promise<ForeignTool> {
  try {
    await mkdir(cacheDirectory, { recursive: true });
    return { path: await find(), skip: false };
  } catch (cause) {
    if (process.env.HOSTPLANE_LAB === "required") {
      throw new Error(`${name} is required and cannot be had`, { cause });
    }
    return { path: "", skip: `no ${name}: ${String(cause)}` };
  }
}

/** A program on PATH. */
export function systemTool(name: string): Promise<ForeignTool> {
  return foreignTool(name, () => pathOf([name]));
}

/** A command of a Go module, built into the cache. */
export function goTool(command: string, version: string): Promise<ForeignTool> {
  const name = basename(command);
  return foreignTool(name, async () => {
    const directory = join(cacheDirectory, `${name}@${version}`);
    const path = join(directory, name);
    if (!existsSync(path)) {
      await install(`go install ${command}@${version}`, "go", ["install", `${command}@${version}`], {
        GOBIN: directory,
      });
    }
    return path;
  });
}

/**
 * Runs what brings a tool, with a line in the test's output since it may take a minute.
 * @throws Error with the end of the output when it fails
 */
export async function install(
  what: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  tap.comment(what);
  const { code, stderr } = await runTool(command, args, { env, timeoutMs: 900_000 });
  if (code !== 0) {
    throw new Error(`${what} ended with ${code}: ${stderr.trim().slice(-500)}`);
  }
}

/**
 * The first of the names that PATH has.
 * @throws Error when it has none
 */
export async function pathOf(names: readonly string[]): Promise<string> {
  const directories = (process.env.PATH ?? "").split(":");
  const found = names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((path) => existsSync(path));
  if (found === undefined) {
    throw new Error(`${names.join(", ")}: not on PATH`);
  }
  return found;
}
