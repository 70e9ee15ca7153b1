import { closeSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { Socket } from "node:net";
import { constants as osConstants } from "node:os";
import { createLimiter } from "../limiter.ts";
import { type PosixSpawn, type ProcessExit, type SpawnedProgram, systemError } from "./posix-spawn.ts";
import { killGroup, type StartProcess, type ToolStdio } from "./tool-process.ts";

/** Threads of the pool used to start tools. The pool has four by default, and file and name lookups need them too. */
const maxStartsAtOnce = 2;
/** Interval at which exits are polled, in case a signal was missed. */
const pollEveryMs = 1_000;

/**
 * Starts processes with posix_spawn(3) on a thread of the pool, so that the event loop never waits, however large the
 * heap. Node's own child_process forks, for which the kernel copies all page tables. The gateway remains the tool's
 * parent, since only a parent learns how the tool ended; a helper process that started tools could die, and the exit
 * status would be lost.
 */
export function createStartByPosixSpawn(posix: PosixSpawn): StartProcess {
  const starts = createLimiter({
    what: "tool starts",
    queue: "tool starts",
    maxRunning: maxStartsAtOnce,
    maxWaiting: Number.POSITIVE_INFINITY,
  });
  const pollers = new Set<() => void>();

  function pollExits(): void {
    for (const poll of [...pollers]) {
      poll();
    }
  }

  function addPoller(poll: () => void): void {
    if (pollers.size === 0) {
      process.on("SIGCHLD", pollExits);
    }
    pollers.add(poll);
  }

  function removePoller(poll: () => void): void {
    pollers.delete(poll);
    if (pollers.size === 0) {
      process.off("SIGCHLD", pollExits);
    }
  }

  return (program, args, options) => {
    const { env, onFailure, onExit, onClose } = options;
    const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    assertArguments(program, [...args, ...environment]);
    const { theirs, stdin, stdout, stderr } = openStdio(posix, options);
    const pipes = [stdin, stdout, stderr].filter((pipe) => pipe !== null);
    const early: NodeJS.Signals[] = [];
    let pid: number | undefined;
    let isEnded = false;
    let openPipes = pipes.length;
    // Nothing else keeps the gateway running for a tool that has closed its pipes.
    const timer = setInterval(poll, pollEveryMs);

    function poll(): void {
      const exit = pid === undefined ? undefined : posix.exitOf(pid);
      if (exit !== undefined) {
        end(exit);
      }
    }

    function release(): void {
      isEnded = true;
      clearInterval(timer);
      removePoller(poll);
      stdin?.destroy();
    }

    function end({ code, signal }: ProcessExit): void {
      release();
      onExit(code, signal);
      closeWhenDone();
    }

    function closeWhenDone(): void {
      if (isEnded && openPipes === 0) {
        onClose();
      }
    }

    /** Returns undefined if the tool was signalled before it started. */
    async function spawn(): Promise<number | undefined> {
      try {
        return await starts.run(() => {
          const spawned = { argv: [program, ...args], environment, stdio: theirs };
          return spawnByPath(posix, env.PATH, spawned, () => early.length > 0);
        });
      } finally {
        closeAll(theirs);
      }
    }

    function begin(started: number | undefined): void {
      pid = started;
      if (pid === undefined) {
        destroyAll(pipes);
        end({ code: null, signal: early[0] ?? null });
        return;
      }
      for (const signal of early) {
        killGroup(pid, signal);
      }
      addPoller(poll);
      // It may have ended before the listener was added.
      poll();
    }

    function fail(cause: unknown): void {
      release();
      for (const pipe of pipes) {
        pipe.off("close", onPipeClose);
      }
      destroyAll(pipes);
      onFailure(cause);
    }

    function onPipeClose(): void {
      openPipes -= 1;
      closeWhenDone();
    }

    for (const pipe of pipes) {
      pipe.once("close", onPipeClose);
    }
    spawn().then(begin, fail);
    return {
      stdin,
      stdout,
      stderr,
      killGroup(signal) {
        if (pid === undefined) {
          early.push(signal);
        } else {
          killGroup(pid, signal);
        }
      },
      unref: () => timer.unref(),
    };
  };
}

interface Stdio {
  /** The descriptors that the tool inherits, for this process to close. */
  readonly theirs: readonly (number | undefined)[];
  readonly stdin: Socket | null;
  readonly stdout: Socket | null;
  readonly stderr: Socket | null;
}

function openStdio(posix: PosixSpawn, { stdin, stdout, stderr }: ToolStdio): Stdio {
  const opened: number[] = [];
  function open(setting: "pipe" | "ignore" | number) {
    if (setting === "ignore") {
      return {};
    }
    // A copy of the open file, since its owner may close it before the tool is started.
    const [theirs, ours] = setting === "pipe" ? posix.socketPair() : [posix.duplicate(setting)];
    opened.push(theirs, ...(ours === undefined ? [] : [ours]));
    return { theirs, ours };
  }
  try {
    const [input, output, errors] = [open(stdin), open(stdout), open(stderr)];
    return {
      theirs: [input.theirs, output.theirs, errors.theirs],
      stdin: input.ours === undefined ? null : new Socket({ fd: input.ours, writable: true }),
      stdout: output.ours === undefined ? null : new Socket({ fd: output.ours, readable: true }),
      stderr: errors.ours === undefined ? null : new Socket({ fd: errors.ours, readable: true }),
    };
  } catch (cause) {
    closeAll(opened);
    throw cause;
  }
}

/**
 * Starts a program from the directories of PATH, or by its own path if it contains one, following the lookup rules of
 * execvp(3).
 */
async function spawnByPath(
  posix: PosixSpawn,
  searchPath = "/bin:/usr/bin",
  spawned: Omit<SpawnedProgram, "path">,
  isStopped: () => boolean,
): Promise<number | undefined> {
  const [program = ""] = spawned.argv;
  if (program.includes("/")) {
    return isStopped() ? undefined : await posix.spawn({ ...spawned, path: program });
  }
  let errno = osConstants.errno.ENOENT;
  for (const directory of searchPath.split(":")) {
    const path = `${directory === "" ? "." : directory}/${program}`;
    try {
      await access(path, constants.X_OK);
      return isStopped() ? undefined : await posix.spawn({ ...spawned, path });
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === "EACCES") {
        errno = osConstants.errno.EACCES;
      } else if (code !== "ENOENT" && code !== "ENOTDIR") {
        throw cause;
      }
    }
  }
  throw systemError(errno, `spawn ${program}`);
}

/** Rejects NUL bytes, as child_process does: the C library would ignore everything after one. */
function assertArguments(program: string, others: readonly string[]): void {
  if (program === "" || [program, ...others].some((text) => text.includes("\0"))) {
    const message = "The program is empty, or an argument or a variable has a null byte";
    throw Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_VALUE" });
  }
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) {
    if (fd !== undefined) {
      closeSync(fd);
    }
  }
}

function destroyAll(pipes: readonly Socket[]): void {
  for (const pipe of pipes) {
    pipe.destroy();
  }
}
