import { runCommandLine } from "../../../server/command-line.ts";
import type { Ended } from "./run-hostplane.ts";

/**
 * Runs `hostplane ARGS` in this process, which takes milliseconds where a process takes half a second. For commands that
 * read no stdin, no variables HOSTPLANE_*, and follow nothing until they are stopped.
 */
export function runInProcess(args: readonly string[]): Promise<Ended> {
  for (const name of Object.keys(process.env).filter((name) => name.startsWith("HOSTPLANE_"))) {
    delete process.env[name];
  }
  const text = { stdout: "", stderr: "" };
  const output = {
    out: (line: string) => {
      text.stdout += `${line}\n`;
    },
    err: (line: string) => {
      text.stderr += `hostplane: ${line}\n`;
    },
  };
  return new Promise((resolve, reject) => {
    runCommandLine(args, output, (code) => resolve({ code, ...text })).catch(reject);
  });
}
