import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../../..");
/** The launcher. It runs the build if that is up to date, which starts in half the CPU time of the sources. */
export const main = join(root, "bin/hostplane.js");

export interface Ended {
  /** The exit code, or the signal's name if a signal ended the process. */
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  /** Resolves with the match once stdout contains the pattern. @throws Error when the process ends first */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the match once stderr contains the pattern. @throws Error when the process ends first */
  untilLogged(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/**
 * Starts `argv` without any HOSTPLANE_* variables except those in `env`. A sandbox gets its own data directory, which is
 * removed when the process has ended.
 */
export function start(
  argv: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly cwd?: string;
    readonly detached?: boolean;
    /** Contents of stdin; empty if absent. */
    readonly input?: string;
  } = {},
): Started {
  const [program = "", ...args] = argv;
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(HOSTPLANE_|TAP|NODE_OPTIONS|_TAP)/.test(name),
  );
  const ownData = argv.includes("--sandbox") ? mkdtempSync(join(tmpdir(), "hp-")) : undefined;
  const data = ownData === undefined ? {} : { HOSTPLANE_DATA: ownData };
  // Shares the tests' own cache; without one, the user's cache stays untouched.
  const compileCache =
    process.env.NODE_COMPILE_CACHE === undefined ? { NODE_DISABLE_COMPILE_CACHE: "1" } : {};
  const child = spawn(program, args, {
    cwd: options.cwd ?? root,
    detached: options.detached ?? false,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    // Prevents the launcher from creating its own cache.
    env: {
      ...Object.fromEntries(inherited),
      CACHE_DIRECTORY: "/dev/null",
      ...compileCache,
      ...data,
      ...options.env,
    },
  });
  // A command that does not read stdin may have exited already.
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

/** Runs `hostplane ARGS` until it exits. */
export function hostplane(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input?: string,
): Promise<Ended> {
  return start([process.execPath, main, ...args], { env, ...(input === undefined ? {} : { input }) }).ended;
}

/** Starts `hostplane serve --sandbox` without the demo world on a free loopback port. */
export function serveSandbox(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Started {
  const flags = ["--sandbox", "--sandbox-quiet", "--listen", "127.0.0.1:0"];
  const argv = [process.execPath, main, "serve", ...flags, ...args];
  return start(argv, { env });
}
