import { createRequire } from "node:module";
import { constants } from "node:os";
import { getSystemErrorName } from "node:util";

/** Exit of a process. One of the two is null; both are if other code has already reaped the process. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program to start. */
export interface SpawnedProgram {
  readonly path: string;
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly environment: readonly string[];
  /**
   * Descriptors for stdin, stdout and stderr, all above 2 and open until the process is spawned; /dev/null where
   * undefined.
   */
  readonly stdio: readonly (number | undefined)[];
}

/** Calls of the C library that start a process on Linux without copying the page tables of this one. */
export interface PosixSpawn {
  /**
   * Starts a process, on a thread of the pool. It leads a session and has no blocked or ignored signals.
   * @returns its pid
   * @throws Error with `code`, `errno` and `syscall`, as child_process does
   */
  spawn(program: SpawnedProgram): Promise<number>;
  /** Returns how a child process ended and reaps it, which frees the pid; undefined while it runs. */
  exitOf(pid: number): ProcessExit | undefined;
  /** Creates a pair of connected stream sockets that no other process inherits. */
  socketPair(): readonly [number, number];
  /** Duplicates a descriptor, to one above 2 that no other process inherits. */
  duplicate(fd: number): number;
}

// From <spawn.h>, <sys/socket.h>, <fcntl.h> and <sys/wait.h>: the same numbers in glibc and musl.
const setSignalDefaults = 0x04;
const setSignalMask = 0x08;
const setSession = 0x80;
const unixDomain = 1;
const stream = 1;
const closeOnExec = 0o2000000;
const duplicateAbove = 1030;
const noHang = 1;

// Larger than in glibc and musl: 336 bytes of attributes, 80 of file actions, 128 of signals.
const attributesBytes = 512;
const fileActionsBytes = 256;
const signalsBytes = 128;

const signalNames = new Map(
  // Some numbers have a second, older name, which comes later.
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name as NodeJS.Signals]),
);

/**
 * Binds posix_spawn(3) of glibc 2.26 or musl 1.1.22 and newer, with its helper functions. Takes about 15 ms.
 * @throws Error if there is no such library, or koffi has no binary for it
 */
export function loadPosixSpawn(): PosixSpawn {
  // Not imported above: a gateway that starts no tool does not need it in memory, and a platform may lack its binary.
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  const bind = (declaration: string) => library.func(declaration);
  const posixSpawn = bind(
    "int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attributes, const char **argv, const char **environment)",
  );
  const initActions = bind("int posix_spawn_file_actions_init(void *actions)");
  const addDup2 = bind("int posix_spawn_file_actions_adddup2(void *actions, int fd, int target)");
  const addOpen = bind(
    "int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, uint32_t mode)",
  );
  const destroyActions = bind("int posix_spawn_file_actions_destroy(void *actions)");
  const waitPid = bind("int waitpid(int pid, _Out_ int *status, int options)");
  const socketPair = bind("int socketpair(int domain, int type, int protocol, _Out_ int *fds)");
  const fcntl = bind("int fcntl(int fd, int command, ...)");
  const attributes = createAttributes(bind);

  function actionsFor(stdio: SpawnedProgram["stdio"]): Buffer {
    const actions = Buffer.alloc(fileActionsBytes);
    assertDone(initActions(actions), "posix_spawn_file_actions_init");
    for (const [target, fd] of stdio.entries()) {
      const errno =
        fd === undefined ? addOpen(actions, target, "/dev/null", 0, 0) : addDup2(actions, fd, target);
      assertDone(errno, "posix_spawn_file_actions");
    }
    return actions;
  }

  return {
    async spawn({ path, argv, environment, stdio }) {
      const actions = actionsFor(stdio);
      try {
        const pid: [number] = [0];
        const { promise, resolve, reject } = Promise.withResolvers<number>();
        posixSpawn.async(
          pid,
          path,
          actions,
          attributes,
          [...argv, null],
          [...environment, null],
          (error: unknown, errno: number) => (error ? reject(error) : resolve(errno)),
        );
        assertDone(await promise, `spawn ${argv[0]}`);
        return pid[0];
      } finally {
        destroyActions(actions);
      }
    },
    exitOf(pid) {
      const status: [number] = [0];
      const waited: number = waitPid(pid, status, noHang);
      if (waited === 0) {
        return undefined;
      }
      return waited === pid ? exitFromStatus(status[0]) : { code: null, signal: null };
    },
    socketPair() {
      const fds = new Int32Array(2);
      const result: number = socketPair(unixDomain, stream | closeOnExec, 0, fds);
      assertDone(result === 0 ? 0 : koffi.errno(), "socketpair");
      return [fds[0] ?? -1, fds[1] ?? -1];
    },
    duplicate(fd) {
      const duplicated: number = fcntl(fd, duplicateAbove, "int", 3);
      assertDone(duplicated >= 0 ? 0 : koffi.errno(), "fcntl");
      return duplicated;
    },
  };
}

function createAttributes(bind: (declaration: string) => (...args: unknown[]) => number): Buffer {
  const attributes = Buffer.alloc(attributesBytes);
  const [none, all] = [Buffer.alloc(signalsBytes), Buffer.alloc(signalsBytes)];
  bind("int sigemptyset(void *signals)")(none);
  bind("int sigfillset(void *signals)")(all);
  bind("int posix_spawnattr_init(void *attributes)")(attributes);
  // Node ignores SIGPIPE, and threads of the pool may block signals.
  bind("int posix_spawnattr_setsigdefault(void *attributes, void *signals)")(attributes, all);
  bind("int posix_spawnattr_setsigmask(void *attributes, void *signals)")(attributes, none);
  // An older library rejects flags that it does not know.
  const setFlags = bind("int posix_spawnattr_setflags(void *attributes, int16_t flags)");
  assertDone(
    setFlags(attributes, setSession | setSignalDefaults | setSignalMask),
    "posix_spawnattr_setflags",
  );
  return attributes;
}

/** Decodes a status of wait(2). Stopped processes are not reported. */
function exitFromStatus(status: number): ProcessExit {
  const signal = status & 0x7f;
  return signal === 0
    ? { code: (status >> 8) & 0xff, signal: null }
    : { code: null, signal: signalNames.get(signal) ?? ("" as NodeJS.Signals) };
}

function assertDone(errno: number, syscall: string): void {
  if (errno !== 0) {
    throw systemError(errno, syscall);
  }
}

/** Creates the error for an errno(3) number, with the properties of Node's own errors. */
export function systemError(errno: number, syscall: string): Error {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${syscall} ${code}`), { code, errno: -errno, syscall });
}
