/** Output of a command: results on one stream, errors on the other. */
export interface Output {
  /** Writes the line to stdout. */
  out(line: string): void;
  /** Writes the line to stderr, as `hostplane: line`. */
  err(line: string): void;
}

/**
 * Exit code of a command. 0: it succeeded. 1: it failed, or found something missing. 2: the command line or the configuration
 * is invalid, and nothing was started.
 */
export type ExitCode = 0 | 1 | 2;

/**
 * Writes to the standard streams of this process. A reader that has closed the pipe (`hostplane config schema | head`) is not
 * an error.
 */
export function createProcessOutput(): Output {
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`hostplane: ${line}\n`),
  };
}
