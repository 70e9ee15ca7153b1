import { once } from "node:events";

/** Output of a command: results on one stream, errors on the other. */
export interface Output {
  /** Writes the line to stdout. */
  out(line: string): void;
  /** Writes the line to stderr, as `hostplane: line`. */
  err(line: string): void;
  /** Shows a line on the terminal until something else is written; absent if stdout is not a terminal. */
  status?(line: string): void;
  /** Resolves once the reader of stdout has caught up; absent if nothing is ever kept for it. */
  drained?(signal: AbortSignal): Promise<void>;
}

/**
 * Exit code of a command. 0: it succeeded. 1: it failed, or found something that needs attention. 2: the command line, the
 * configuration or the request is invalid, or a change was not confirmed: nothing was changed.
 */
export type ExitCode = 0 | 1 | 2;

const defaultColumns = 80;
const eraseLine = "\r\u001b[K";

/**
 * Writes to the standard streams of this process. A reader that has closed the pipe (`hostplane config schema | head`) is not
 * an error.
 */
export function createProcessOutput(): Output {
  const { stdout, stderr } = process;
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  let erase = "";
  const write = (stream: NodeJS.WriteStream, line: string) => {
    if (erase !== "") {
      stdout.write(erase);
      erase = "";
    }
    stream.write(line);
  };
  const status = (line: string) => {
    // A longer line would wrap, and only its last part would be replaced. Some terminals report no width.
    stdout.write(`${erase}${line.slice(0, (stdout.columns || defaultColumns) - 1)}`);
    erase = eraseLine;
  };
  return {
    out: (line) => write(stdout, `${line}\n`),
    err: (line) => write(stderr, `hostplane: ${line}\n`),
    ...(stdout.isTTY ? { status } : {}),
    drained: async (signal) => {
      if (stdout.writableNeedDrain) {
        await once(stdout, "drain", { signal });
      }
    },
  };
}
