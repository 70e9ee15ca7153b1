import { existsSync, openSync, unlinkSync } from "node:fs";
import { open, readlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An unnamed file in memory. */
export interface MemoryFile {
  readonly fd: number;
  /** Frees the memory of the first `bytes` bytes; offsets stay the same. */
  discard(bytes: number): void;
}

interface MemoryFileCalls {
  create(name: string): number;
  discard(fd: number, bytes: number): void;
}

// From <linux/memfd.h> and <linux/falloc.h>.
const closeOnExec = 0x1;
const noExecuteSeal = 0x8;
const keepSizeAndPunchHole = 0x3;

let calls: MemoryFileCalls | undefined;

/**
 * Creates an empty file in memory with memfd_create(2) on Linux, which needs no disk and no mount with a size limit.
 * Elsewhere it is an unlinked temporary file.
 * @param name shown in `/proc/PID/fd` of the processes that have it open
 */
export function createMemoryFile(name: string): MemoryFile {
  calls ??= loadCalls();
  const { create, discard } = calls;
  const fd = create(name);
  return { fd, discard: (bytes) => discard(fd, bytes) };
}

/**
 * Frees the memory of everything that a process of this user has written to its memory file so far.
 * @param path `/proc/PID/fd/N`; ignored unless it leads to a memory file of that name
 * @throws Error when the process is gone or may not be inspected
 */
export async function discardMemoryFile(path: string, name: string): Promise<void> {
  const isMemoryFile = async (link: string) => (await readlink(link)).startsWith(`/memfd:${name} `);
  if (!(await isMemoryFile(path))) {
    return;
  }
  const file = await open(path, "r+");
  try {
    // The process may have opened another file under this number in the meantime.
    if (await isMemoryFile(`/proc/self/fd/${file.fd}`)) {
      const { size } = await file.stat();
      calls ??= loadCalls();
      calls.discard(file.fd, size);
    }
  } finally {
    await file.close();
  }
}

function loadCalls(): MemoryFileCalls {
  if (process.platform === "linux") {
    try {
      return bindCalls();
    } catch {
      // koffi has no binary for this platform, or the C library is older than glibc 2.27.
    }
  }
  return { create: createTemporaryFile, discard() {} };
}

function bindCalls(): MemoryFileCalls {
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  const memfdCreate = library.func("int memfd_create(const char *name, unsigned int flags)");
  const fallocate = library.func("int fallocate(int fd, int mode, int64_t offset, int64_t length)");
  return {
    create(name) {
      // Kernels before 6.3 reject the flag (EINVAL); newer ones may require it (vm.memfd_noexec).
      let fd: number = memfdCreate(name, closeOnExec | noExecuteSeal);
      if (fd < 0) {
        fd = memfdCreate(name, closeOnExec);
      }
      return fd < 0 ? createTemporaryFile(name) : fd;
    },
    discard(fd, bytes) {
      fallocate(fd, keepSizeAndPunchHole, 0, bytes);
    },
  };
}

function createTemporaryFile(name: string): number {
  const directory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const path = join(directory, `${name}-${crypto.randomUUID()}`);
  const fd = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return fd;
}
