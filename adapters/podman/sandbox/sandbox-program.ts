import type { LogPiece } from "../adapter.ts";

/** Behaviour of a sandbox container while it runs. */
export type SandboxProgram =
  /** Prints `tick 0`, `tick 1`, ... to stdout, and every fifth time `five 5` and so on to stderr. */
  | { readonly kind: "tick"; readonly everyMs: number }
  /** Prints `begin`, waits, prints `end` and exits. */
  | { readonly kind: "exit"; readonly code: number; readonly afterMs: number }
  /** Does not exist, so its container does not start. */
  | { readonly kind: "missing" };

export interface SandboxPodOptions {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly containers: readonly {
    readonly name: string;
    /** Must exist. */
    readonly image: string;
    readonly program: SandboxProgram;
  }[];
}

/** One run of a container; times are nanoseconds since 1970. */
export interface SandboxRun {
  readonly startedAtNs: bigint;
  /** Undefined while it runs. */
  readonly endedAtNs: bigint | undefined;
}

/**
 * Returns what a program printed in its runs, after one time and up to another. Output is not stored; it is computed
 * from the times.
 */
export function printedBy(
  program: SandboxProgram,
  runs: readonly SandboxRun[],
  window: { readonly afterNs: bigint; readonly untilNs: bigint },
): LogPiece[] {
  return runs.flatMap((run) => {
    const fromNs = window.afterNs;
    const endNs =
      run.endedAtNs !== undefined && run.endedAtNs < window.untilNs ? run.endedAtNs : window.untilNs;
    return program.kind === "tick"
      ? ticks(BigInt(program.everyMs) * 1_000_000n, run.startedAtNs, fromNs, endNs)
      : bounds(program, run, fromNs, endNs);
  });
}

/** Returns when a program prints next; undefined if it does not. */
export function nextPrintNs(
  program: SandboxProgram,
  run: SandboxRun | undefined,
  afterNs: bigint,
): bigint | undefined {
  if (program.kind !== "tick" || run === undefined || run.endedAtNs !== undefined) {
    return undefined;
  }
  const everyNs = BigInt(program.everyMs) * 1_000_000n;
  const passed = afterNs < run.startedAtNs ? -1n : (afterNs - run.startedAtNs) / everyNs;
  return run.startedAtNs + (passed + 1n) * everyNs;
}

function ticks(everyNs: bigint, startedAtNs: bigint, afterNs: bigint, untilNs: bigint): LogPiece[] {
  const pieces: LogPiece[] = [];
  const first = afterNs < startedAtNs ? 0n : (afterNs - startedAtNs) / everyNs + 1n;
  for (let count = first; startedAtNs + count * everyNs <= untilNs; count += 1n) {
    const timeNs = startedAtNs + count * everyNs;
    pieces.push(line("stdout", timeNs, `tick ${count}`));
    if (count > 0n && count % 5n === 0n) {
      pieces.push(line("stderr", timeNs, `five ${count}`));
    }
  }
  return pieces;
}

function bounds(program: SandboxProgram, run: SandboxRun, afterNs: bigint, untilNs: bigint): LogPiece[] {
  const isBetween = (timeNs: bigint) => timeNs > afterNs && timeNs <= untilNs;
  const pieces: LogPiece[] = [];
  if (program.kind === "exit" && isBetween(run.startedAtNs)) {
    pieces.push(line("stdout", run.startedAtNs, "begin"));
  }
  if (program.kind === "exit" && run.endedAtNs !== undefined && isBetween(run.endedAtNs)) {
    pieces.push(line("stdout", run.endedAtNs, "end"));
  }
  return pieces;
}

function line(stream: LogPiece["stream"], timeNs: bigint, text: string): LogPiece {
  return { stream, timeNs, bytes: new TextEncoder().encode(text), endsLine: true };
}
