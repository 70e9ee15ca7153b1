/** The two streams of a command: what was asked for, and what went wrong. */
export interface Output {
  /** Writes the line to stdout. */
  out(line: string): void;
  /** Writes the line to stderr, as `hostplane: line`. */
  err(line: string): void;
}

/**
 * How a command ends. 0: it did what was asked. 1: it failed, or found something missing. 2: the command line or
 * the configuration is wrong, and nothing was begun.
 */
export type ExitCode = 0 | 1 | 2;

/** The standard streams of this process. A reader that has gone (`hostplane config schema | head`) is no error. */
export function createProcessOutput(): Output {
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`hostplane: ${line}\n`),
  };
}

/**
 * An error in one line, without its stack: its message, or what the system called it where that is missing, and what
 * caused it. For whoever runs the command: a cause is never told to a client.
 */
export function messageFromError(error: unknown): string {
  if (!(error instanceof Error)) {
    return onOneLine(String(error));
  }
  const message = onOneLine(error.message || error.name);
  const cause = error.cause === undefined ? "" : messageFromError(error.cause);
  return cause === "" || message.includes(cause) ? message : `${message}: ${cause}`;
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
