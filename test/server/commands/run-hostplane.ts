import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../../..");
/** The launcher: it runs the build while that is current, which starts in half the CPU time of the source. */
export const main = join(root, "bin/hostplane.js");

export interface Ended {
  /** The exit code, or 128 and the signal's name as text when a signal ended it. */
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  /** Ends with the text once stdout holds it. @throws Error when the process ends before */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends with the text once stderr holds it. @throws Error when the process ends before */
  untilLogged(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/**
 * Starts `argv` with nothing of HOSTPLANE_* in its environment but `env`, and for a sandbox a data directory of its own,
 * which is removed when it has ended.
 */
export function start(
  argv: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly cwd?: string;
    readonly detached?: boolean;
    /** What stdin holds; nothing if absent. */
    readonly input?: string;
  } = {},
): Started {
  const [program = "", ...args] = argv;
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(HOSTPLANE_|TAP|NODE_OPTIONS|_TAP)/.test(name),
  );
  const ownData = argv.includes("--sandbox") ? mkdtempSync(join(tmpdir(), "hp-")) : undefined;
  const data = ownData === undefined ? {} : { HOSTPLANE_DATA: ownData };
  // Shares the tests' own cache; without one, the cache of the user who runs them stays untouched.
  const compileCache =
    process.env.NODE_COMPILE_CACHE === undefined ? { NODE_DISABLE_COMPILE_CACHE: "1" } : {};
  const child = spawn(program, args, {
    cwd: options.cwd ?? root,
    detached: options.detached ?? false,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    // The launcher finds no directory for a cache of its own.
    env: {
      ...Object.fromEntries(inherited),
      CACHE_DIRECTORY: "/dev/null",
      ...compileCache,
      ...data,
      ...options.env,
    },
  });
  // A command that does not read it may have ended before.
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.input);
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk) => {
      text[name] += chunk;
    });
  }
  const ended = once(child, "close").then(([code, signal]) => {
    if (ownData !== undefined) {
      rmSync(ownData, { recursive: true, force: true });
    }
    return { code: signal ?? code, ...text };
  });

  async function until(name: "stdout" | "stderr", pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(text[name]);
      if (match !== null) {
        return match;
      }
      const stream = child[name];
      if (stream === null) {
        throw new Error(`no ${name}`);
      }
      const next = await Promise.race([once(stream, "data").then(() => undefined), ended]);
      if (next !== undefined && !pattern.test(text[name])) {
        throw new Error(`ended with ${next.code} before ${pattern}: ${next.stdout}${next.stderr}`);
      }
    }
  }
  return {
    child,
    untilPrinted: (pattern) => until("stdout", pattern),
    untilLogged: (pattern) => until("stderr", pattern),
    ended,
  };
}

/** Runs `hostplane ARGS` to its end. */
export function hostplane(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input?: string,
): Promise<Ended> {
  return start([process.execPath, main, ...args], { env, ...(input === undefined ? {} : { input }) }).ended;
}

/** Starts `hostplane serve --sandbox` on a free port of loopback. */
export function serveSandbox(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Started {
  const argv = [process.execPath, main, "serve", "--sandbox", "--listen", "127.0.0.1:0", ...args];
  return start(argv, { env });
}
