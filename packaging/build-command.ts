import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";

/** The clone that the packages are built from. */
export const root = resolve(import.meta.dirname, "..");

/**
 * Runs a program and returns what it printed on its standard output.
 * @throws Error with what it printed when it cannot be started or fails
 */
export async function runBuildCommand(
  [program = "", ...args]: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const env = { ...process.env, ...options.env };
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: options.cwd ?? root,
    env,
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout;
}
