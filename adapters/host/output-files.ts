import { closeSync, readSync } from "node:fs";
import { createMemoryFile, type MemoryFile } from "./memory-file.ts";

/** What a process has open as its stdout or stderr while its output goes to a memory file. */
export const outputFileName = "hostplane-tool-output";

const readEveryMs = 250;
const chunkBytes = 64 * 1024;
const discardAfterBytes = 1024 * 1024;

/** Files for the output of a tool. */
export interface OutputFiles {
  /** Undefined when stdout is not read. */
  readonly stdout: number | undefined;
  readonly stderr: number;
  /** Hands over what is left, and closes the files. */
  close(): void;
}

/** Takes what a tool has printed. Must not throw. */
export type TakeOutput = (chunk: Buffer) => void;

/**
 * Opens files in memory for the output of a tool that must reach its end even if the gateway dies: writing to them neither
 * blocks nor fails nor raises SIGPIPE, even without a reader. They are read every 250 ms, and what was read is given back once
 * it is more than a MiB, so that a tool that prints without end takes little memory while the gateway runs.
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

  // Not what keeps the gateway running: the tool does.
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
