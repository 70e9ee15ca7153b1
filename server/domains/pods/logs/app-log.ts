import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogOptions, PodRuntime } from "../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { PodContainer } from "../../../../adapters/podman/runtime-state.ts";
import { createLineAssembly } from "./line-assembly.ts";
import type { LogLine } from "./log-line.ts";

/** Lines, or `caughtUp` once, when all earlier lines of a followed log have been yielded. */
export type LogBatch = readonly LogLine[] | "caughtUp";

/** Options for reading the log of an app. */
export interface AppLogOptions {
  readonly runtime: Pick<PodRuntime, "logs">;
  readonly app: Pick<PodContainer, "id" | "name">;
  readonly options: LogOptions;
  /** Whether the request is for this app only. */
  readonly isOnly: boolean;
  readonly maxLineBytes: number;
  /** Whether its program has exited, as far as is known. Called only for a followed log, once it has caught up. */
  readonly hasEnded?: () => boolean;
  /**
   * Duration of one wait for more of an unfinished line after the program has exited; there are `maxWaits` of them. 1 s by
   * default.
   */
  readonly lineEndMs?: number;
}

/**
 * A program's last output may arrive long after its exit is known: Podman's service may just be back, or the machine may be
 * busy. Several short waits are used, since after a suspend one long wait would be over before anything was read.
 */
const maxWaits = 5;

/**
 * How far before the window the log is read, to get the starts of lines that end in it. Their position is unknown beforehand;
 * for a program that prints 30 MB/s, that much output is read and dropped.
 */
const lineBeginNs = 10_000_000_000n;

/**
 * Yields the lines of one app that ended in the window, in batches as they arrive. An unfinished line is yielded when the
 * program or the log ends. If the app's output is not kept and other apps of its pod are requested too, a line reports that;
 * a missing app yields nothing.
 * @throws InfraError LOGS_UNAVAILABLE and CONTAINER_NOT_FOUND if it is the only app; as `PodRuntime.logs`
 */
export async function* appLog(given: AppLogOptions, signal: AbortSignal): AsyncGenerator<LogBatch, void> {
  const { app, options, isOnly } = given;
  try {
    yield* linesOf(given, signal);
  } catch (error) {
    if (!isOnly && hasReason(error, podmanReasons.CONTAINER_NOT_FOUND)) {
      return;
    }
    if (!hasReason(error, podmanReasons.LOGS_UNAVAILABLE)) {
      throw error;
    }
    const words = `the logs of app ${app.name} are not kept`;
    if (isOnly) {
      throw new InfraError(podmanReasons.LOGS_UNAVAILABLE, words, {
        resource: `containers/${app.id}`,
        cause: error,
      });
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
  const inWindow = (lines: readonly LogLine[]) =>
    sinceNs === undefined ? lines : lines.filter(({ timeNs }) => timeNs >= sinceNs);
  let isCaughtUp = false;
  try {
    for (;;) {
      const arrival = watched(source.next());
      let endedWaits = 0;
      // Before that, a pause comes from the runtime and says nothing about the program.
      while (isCaughtUp && assembly.hasUnfinishedLine() && !(await arrival.within(lineEndMs))) {
        endedWaits = hasEnded?.() === true ? endedWaits + 1 : 0;
        if (endedWaits === maxWaits) {
          yield inWindow(assembly.end());
        }
      }
      const { done, value: pieces } = await arrival.result;
      if (done === true) {
        break;
      }
      const lines = inWindow(assembly.linesOf(pieces));
      if (lines.length > 0) {
        yield lines;
      }
      if (pieces.length === 0) {
        isCaughtUp = true;
        yield "caughtUp";
      }
    }
    if (assembly.hasUnfinishedLine()) {
      yield inWindow(assembly.end());
    }
  } finally {
    await source.return?.();
  }
}

function atLeastZero(ns: bigint): bigint {
  return ns < 0n ? 0n : ns;
}

/** Wraps a promise so that it can be awaited with a timeout any number of times, without accumulating callbacks. */
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
