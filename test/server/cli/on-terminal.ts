import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { main, root } from "./run-hostplane.ts";

const hasScript = spawnSync("script", ["--version"]).status === 0;

/** Options of a test that needs a terminal. */
export const skip = hasScript ? {} : { skip: "script (util-linux) is not installed" };

/** Runs a command on its own terminal, and types each answer once its prompt appears. */
export async function onTerminal(
  args: readonly string[],
  typed: readonly (readonly [question: RegExp, answer: string])[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number; readonly shown: string }> {
  const command = [process.execPath, main, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env.PATH, TERM: "xterm", ...env },
  });
  let shown = "";
  const left = [...typed];
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    shown += chunk;
    const [next] = left;
    if (next?.[0].test(shown)) {
      left.shift();
      child.stdin.write(next[1]);
    }
  });
  const [code] = await once(child, "close");
  return { code, shown };
}
