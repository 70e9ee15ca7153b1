import type { FencedWrite } from "./fenced-writes.ts";

/** Progress as a step reports it. */
export interface ReportedProgress {
  readonly message?: string;
  readonly doneBytes?: number;
  readonly totalBytes?: number;
}

/** Stores the progress of a step at most once a second, and publishes significant changes as events. */
export interface StepProgress {
  report(update: ReportedProgress): void;
  /** Schedules a write, because something else is pending, such as commands. */
  wake(): void;
  /** Stops writing, and resolves once no write is in progress. */
  stop(): Promise<void>;
}

const writeEveryMs = 1000;

/** Events are kept for days, so progress is only published per percent of the step, and at this interval. */
const publishedShare = 0.01;
const publishEveryMs = 10_000;

/**
 * @param message initial message, until the step reports another
 * @param ppmOf returns the completed share of the whole operation in millionths, given the share of the step; undefined:
 * unchanged
 */
export function createStepProgress(
  write: FencedWrite,
  message: string,
  ppmOf: (shareOfStep: number) => number | undefined,
): StepProgress {
  let latest: ReportedProgress = { message };
  let isReported = false;
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastPublished = { text: message, share: 0, atMs: Number.NEGATIVE_INFINITY };
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let isStopped = false;

  function wake(): void {
    if (timer === undefined && !isStopped) {
      timer = setTimeout(flush, Math.max(0, lastMs + writeEveryMs - performance.now())).unref();
    }
  }

  function flush(): void {
    const { message: text = message, doneBytes, totalBytes } = latest;
    const share = totalBytes !== undefined && totalBytes > 0 ? (doneBytes ?? 0) / totalBytes : 0;
    const columns = isReported
      ? {
          message: text,
          progress_ppm: ppmOf(Math.min(1, Math.max(0, share))),
          done_bytes: doneBytes ?? null,
          total_bytes: totalBytes ?? null,
        }
      : undefined;
    isReported = false;
    const nowMs = performance.now();
    const isNews =
      text !== lastPublished.text ||
      Math.abs(share - lastPublished.share) >= publishedShare ||
      nowMs - lastPublished.atMs >= publishEveryMs;
    if (isNews) {
      lastPublished = { text, share, atMs: nowMs };
    }
    // An error here is reported by the step's next write.
    writing = write("operations.progress", { columns, isNews }).catch(() => {});
    void writing.then(() => {
      lastMs = performance.now();
      timer = undefined;
      if (isReported) {
        wake();
      }
    });
  }

  return {
    report(update) {
      latest = { ...latest, ...update };
      isReported = true;
      wake();
    },
    wake,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return writing.then(() => {});
    },
  };
}
