import { Readable } from "node:stream";
import { runCommandLine } from "../../../server/cli/command-line.ts";
import type { Ended, Started } from "./run-hostplane.ts";

/** A command that runs in this process. It cannot be killed; one that follows something ends when the gateway stops. */
export type StartedInProcess = Omit<Started, "child" | "untilLogged">;

/** Whether a command is running with its own stdin or environment: a process has only one of each. */
let isSwapped = false;

/**
 * Runs `hostplane ARGS` in this process, which takes milliseconds instead of half a second.
 * @param env HOSTPLANE_* and XDG_* variables; other variables of that kind are unset
 * @param input contents of stdin; commands without it must not read stdin
 * @throws Error when another command is running that was given `env` or `input`
 */
export async function runInProcess(
  args: readonly string[],
  { env, input }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): Promise<Ended> {
  clearEnvironment();
  if (env === undefined && input === undefined) {
    return startInProcess(args).ended;
  }
  if (isSwapped) {
    throw new Error("commands with their own environment or stdin run one at a time in a process");
  }
  isSwapped = true;
  const own = Object.getOwnPropertyDescriptor(process, "stdin");
  const before = { ...process.env };
  Object.assign(process.env, env);
  Object.defineProperty(process, "stdin", { value: Readable.from([input ?? ""]), configurable: true });
  try {
    return await startInProcess(args).ended;
  } finally {
    Object.defineProperty(process, "stdin", own ?? {});
    for (const name of Object.keys(env ?? {})) {
      if (before[name] === undefined) {
        delete process.env[name];
      } else {
        process.env[name] = before[name];
      }
    }
    isSwapped = false;
  }
}

/** Starts `hostplane ARGS` in this process, without any HOSTPLANE_* variables. */
export function startInProcess(args: readonly string[]): StartedInProcess {
  clearEnvironment();
  const text = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  const output = {
    out: (line: string) => {
      text.stdout += `${line}\n`;
      for (const check of waiting) {
        check();
      }
    },
    err: (line: string) => {
      text.stderr += `hostplane: ${line}\n`;
    },
  };
  const ended = new Promise<Ended>((resolve, reject) => {
    runCommandLine(args, output, (code) => resolve({ code, ...text })).catch(reject);
  });
  return {
    ended,
    untilPrinted: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(text.stdout);
          if (match !== null) {
            waiting.delete(check);
            resolve(match);
          }
        };
        waiting.add(check);
        check();
        ended.then(({ code, stdout, stderr }) => {
          reject(new Error(`ended with ${code} before ${pattern}: ${stdout}${stderr}`));
        }, reject);
      }),
  };
}

function clearEnvironment(): void {
  if (isSwapped) {
    return;
  }
  for (const name of Object.keys(process.env).filter((name) => /^HOSTPLANE_/.test(name))) {
    delete process.env[name];
  }
}
