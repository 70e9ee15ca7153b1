import { AsyncLocalStorage } from "node:async_hooks";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Activity } from "../../domain/domain-services.ts";
import type { History, Sample } from "../../history/history.ts";
import { inSlices } from "../../rpc/call/in-slices.ts";
import type { HistorySource } from "./history-sources.ts";

export interface SamplingOptions {
  readonly history: History;
  readonly sources: readonly HistorySource[];
  /** Called for failures that are not a system's. */
  readonly onFailed: (error: unknown) => void;
  /** How often the history is saved; 10 min by default. */
  readonly saveMs?: number;
}

/** Longest wait for a source, if the step is not shorter. */
const sourceTimeoutMs = 5_000;

/** Samples the sources at the beginning of each step, until it is closed. The first turn begins at once. */
export function beginSampling(options: SamplingOptions): Activity {
  const { history, saveMs = 600_000 } = options;
  const closing = new AbortController();
  let savedAtMs = performance.now();
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function turn(): Promise<void> {
    try {
      await history.load();
      await sampleOnce(options, Date.now(), closing.signal);
      if (performance.now() - savedAtMs > saveMs) {
        savedAtMs = performance.now();
        await history.save();
      }
    } catch (error) {
      if (!closing.signal.aborted) {
        options.onFailed(error);
      }
    }
    schedule();
  }

  function schedule(): void {
    if (!closing.signal.aborted) {
      const waitMs = history.stepMs - (Date.now() % history.stepMs);
      timer = setTimeout(() => {
        running = turn();
      }, waitMs).unref();
    }
  }

  running = AsyncLocalStorage.snapshot()(turn);
  return {
    async close() {
      closing.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

/**
 * Takes one turn: reads all sources side by side, and records what they have. A source that fails, or takes longer than 5 s, is
 * unknown at this step.
 * @throws any error other than an InfraError, after everything else was recorded; and the signal's reason
 */
export async function sampleOnce(
  { history, sources }: Pick<SamplingOptions, "history" | "sources">,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const tick = history.beginTurn(nowMs);
  if (tick === undefined) {
    return;
  }
  const timeout = AbortSignal.timeout(Math.min(sourceTimeoutMs, history.stepMs));
  const either = AbortSignal.any([signal, timeout]);
  const faults: unknown[] = [];
  const samples = await Promise.all(
    sources.map(async ({ source, read }): Promise<readonly [number, Sample]> => {
      try {
        return [source, await read(either)];
      } catch (error) {
        if (!(error instanceof InfraError) && !either.aborted) {
          faults.push(error);
        }
        return [source, undefined];
      }
    }),
  );
  signal.throwIfAborted();
  await inSlices(history.record(tick, new Map(samples)));
  if (faults.length > 0) {
    throw faults[0];
  }
}
