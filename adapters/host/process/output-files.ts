import { closeSync, readSync } from "node:fs";
import { createMemoryFile, type MemoryFile } from "./memory-file.ts";

/** Name of the memory file that is the stdout or stderr of a process. */
export const outputFileName = "hostplane-tool-output";

const readEveryMs = 250;
const chunkBytes = 64 * 1024;
const discardAfterBytes = 1024 * 1024;

/** Files for the output of a tool. */
export interface OutputFiles {
  /** Undefined when stdout is not read. */
  readonly stdout: number | undefined;
  readonly stderr: number;
  /** Delivers the rest of the output and closes the files. */
  close(): void;
}

/** Receives output of a tool. Must not throw. */
export type TakeOutput = (chunk: Buffer) => void;

/**
 * Opens files in memory for the output of a tool that must run to completion even if the gateway dies. Writing to them
 * never blocks, fails or raises SIGPIPE, even without a reader. They are read every 250 ms. Memory that has been read
 * is freed once it exceeds 1 MiB, so that a tool with endless output uses little memory while the gateway runs.
 */
export function openOutputFiles(take: {
  readonly stdout: TakeOutput | undefined;
  readonly stderr: TakeOutput;
}): OutputFiles {
  const stdout = take.stdout === undefined ? undefined : createReader(take.stdout);
  const stderr = createReader(take.stderr);
  const readers = stdout === undefined ? [stderr] : [stdout, stderr];

  function readAll(): void {
    for (const reader of readers) {
      reader.read();
    }
  }

  // Does not keep the gateway running; the tool does.
  const timer = setInterval(readAll, readEveryMs).unref();
  return {
    stdout: stdout?.fd,
    stderr: stderr.fd,
    close() {
      clearInterval(timer);
      readAll();
      for (const { fd } of readers) {
        closeSync(fd);
      }
    },
  };
}

function createReader(take: TakeOutput): { readonly fd: number; read(): void } {
  const file: MemoryFile = createMemoryFile(outputFileName);
  let position = 0;
  let discarded = 0;
  return {
    fd: file.fd,
    read() {
      for (;;) {
        const chunk = Buffer.allocUnsafe(chunkBytes);
        const length = readSync(file.fd, chunk, 0, chunkBytes, position);
        if (length === 0) {
          break;
        }
        position += length;
        take(chunk.subarray(0, length));
      }
      if (position - discarded > discardAfterBytes) {
        discarded = position;
        file.discard(position);
      }
    },
  };
}
