import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogOptions, PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { PodContainer } from "../../../../adapters/podman/runtime-state.ts";
import { createLineAssembly } from "./line-assembly.ts";
import type { LogLine } from "./log-line.ts";

/** `caughtUp`, once, when a log is followed and what had been printed before has been told. */
export type LogBatch = readonly LogLine[] | "caughtUp";

/** What is needed to read the log of an app. */
export interface AppLogOptions {
  readonly runtime: Pick<PodRuntime, "logs">;
  readonly app: Pick<PodContainer, "id" | "name">;
  readonly options: LogOptions;
  /** Whether this app is the one that is asked for. */
  readonly isOnly: boolean;
  readonly maxLineBytes: number;
  /** Whether its program has ended, as far as is known. Asked only of a log that is followed, when that has caught up. */
  readonly hasEnded?: () => boolean;
  /** How often a program that has ended is waited for to bring more of a line: `looks` times so long; a second if absent. */
  readonly lineEndMs?: number;
}

/**
 * What a program printed last may come long after its end is known: Podman's service may have just come back, or the machine be busy.
 * One long wait would not do: a machine that stood still would find it over before it has read anything.
 */
const looks = 5;

/**
 * So much before the window the log is read from, for the beginnings of lines that end in it. Nothing tells beforehand where those
 * are, and a program that prints 30 MB a second has so much of that sent in vain.
 */
const lineBeginNs = 10_000_000_000n;

/**
 * The lines of one app that ended in the window, as many as came together. What it left unfinished is a line when its program has ended, or its log. When
 * nothing keeps what it prints and the others of its pod are asked for, too, a line says that; and nothing comes of one that is
 * gone.
 * @throws InfraError LOGS_UNAVAILABLE and CONTAINER_NOT_FOUND of the only one; as `PodRuntime.logs`
 */
export async function* appLog(given: AppLogOptions, signal: AbortSignal): AsyncGenerator<LogBatch, void> {
  const { app, options, isOnly } = given;
  try {
    yield* linesOf(given, signal);
  } catch (error) {
    const reason = error instanceof InfraError ? error.reason : undefined;
    if (reason === "CONTAINER_NOT_FOUND" && !isOnly) {
      return;
    }
    if (reason !== "LOGS_UNAVAILABLE") {
      throw error;
    }
    const words = `nothing keeps what the app ${app.name} prints`;
    if (isOnly) {
      throw new InfraError("LOGS_UNAVAILABLE", words, { resource: `containers/${app.id}`, cause: error });
    }
    const bytes = new TextEncoder().encode(`hostplane: ${words}`);
    yield [{ timeNs: BigInt(Date.now()) * 1_000_000n, bytes, cutBytes: 0 }];
  }
  if (options.follow === true) {
    yield "caughtUp";
  }
}

async function* linesOf(given: AppLogOptions, signal: AbortSignal): AsyncGenerator<LogBatch, void> {
  const { runtime, app, options, maxLineBytes, hasEnded, lineEndMs = 1_000 } = given;
  const { sinceNs } = options;
  const assembly = createLineAssembly(maxLineBytes);
  const wide = sinceNs === undefined ? options : { ...options, sinceNs: atLeastZero(sinceNs - lineBeginNs) };
  const source = runtime.logs(app.id, wide, signal)[Symbol.asyncIterator]();
  const wanted = (lines: readonly LogLine[]) =>
    sinceNs === undefined ? lines : lines.filter(({ timeNs }) => timeNs >= sinceNs);
  let isCaughtUp = false;
  try {
    for (;;) {
      const arrival = watched(source.next());
      let endedLooks = 0;
      // Before, a silence is the runtime's and tells nothing of the program.
      while (isCaughtUp && assembly.hasBegun() && !(await arrival.within(lineEndMs))) {
        endedLooks = hasEnded?.() === true ? endedLooks + 1 : 0;
        if (endedLooks === looks) {
          yield wanted(assembly.end());
        }
      }
      const { done, value: pieces } = await arrival.result;
      if (done === true) {
        break;
      }
      const lines = wanted(assembly.linesOf(pieces));
      if (lines.length > 0) {
        yield lines;
      }
      if (pieces.length === 0) {
        isCaughtUp = true;
        yield "caughtUp";
      }
    }
    if (assembly.hasBegun()) {
      yield wanted(assembly.end());
    }
  } finally {
    await source.return?.();
  }
}

function atLeastZero(ns: bigint): bigint {
  return ns < 0n ? 0n : ns;
}

/** A promise that can be waited for again and again, and keeps nothing of that. */
function watched<T>(result: Promise<T>): { result: Promise<T>; within: (ms: number) => Promise<boolean> } {
  let isSettled = false;
  let wake = () => {};
  const settle = () => {
    isSettled = true;
    wake();
  };
  result.then(settle, settle);
  return {
    result,
    within: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, isSettled ? 0 : ms, isSettled);
        wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      }),
  };
}
