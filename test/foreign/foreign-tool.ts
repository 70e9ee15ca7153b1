import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import tap from "tap";
import { runTool } from "./tool-process.ts";

/** Cache for tools, kept between runs. */
export const cacheDirectory = join(tmpdir(), "hostplane-foreign");

export interface ForeignTool {
  /** Path of the tool; empty if it is not available. */
  readonly path: string;
  /** For tap: why tests that need the tool are skipped, or false. */
  readonly skip: string | false;
}

/**
 * Finds a third-party program that tests need.
 * @param find returns its path; installs it first if necessary
 * @throws Error when it is not available and HOSTPLANE_LAB=required
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

/** Finds a program on PATH. */
export function systemTool(name: string): Promise<ForeignTool> {
  return foreignTool(name, () => pathOf([name]));
}

/** Builds a command of a Go module into the cache. */
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
 * Runs a command that installs a tool. It prints a line to the test's output, since it may take a minute.
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
 * Returns the path of the first of the names that is on PATH.
 * @throws Error when none is
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
