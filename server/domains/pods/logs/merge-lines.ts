import type { LogLine } from "./log-line.ts";

/** Lines of one app, in their original order. */
interface LineQueue {
  lines: readonly LogLine[];
  at: number;
  /** Whether more may come. */
  isOpen: boolean;
}

/**
 * Merges the lines of several apps by time; for equal times, app by app. The lines of each app keep their order, even if its
 * clock was set back.
 */
export function mergeLines(apps: readonly (readonly LogLine[])[]): readonly LogLine[] {
  const [only] = apps;
  if (only !== undefined && apps.length === 1) {
    return only;
  }
  return drain(apps.map((lines) => ({ lines, at: 0, isOpen: false })));
}

/**
 * Merges lines that arrive in batches. Pulls from an app only when all of its previous lines have been yielded.
 * @param pulls return the next lines of an app, or undefined at its end
 * @throws what they throw
 */
export async function* mergedLines(
  pulls: readonly (() => Promise<readonly LogLine[] | undefined>)[],
): AsyncGenerator<readonly LogLine[], void> {
  const queues = pulls.map((pull) => ({ pull, lines: [] as readonly LogLine[], at: 0, isOpen: true }));
  while (queues.some(({ isOpen }) => isOpen)) {
    await Promise.all(
      queues.map(async (queue) => {
        while (queue.isOpen && queue.at === queue.lines.length) {
          const lines = await queue.pull();
          queue.lines = lines ?? [];
          queue.at = 0;
          queue.isOpen = lines !== undefined;
        }
      }),
    );
    const lines = drain(queues);
    if (lines.length > 0) {
      yield lines;
    }
  }
}

/** Takes lines until an open queue is empty, since its next line may be earlier. */
function drain(queues: readonly LineQueue[]): LogLine[] {
  const taken: LogLine[] = [];
  for (;;) {
    let first: LineQueue | undefined;
    for (const queue of queues) {
      const line = queue.lines[queue.at];
      if (line === undefined) {
        if (queue.isOpen) {
          return taken;
        }
      } else {
        const earliest = first?.lines[first.at];
        first = earliest === undefined || line.timeNs < earliest.timeNs ? queue : first;
      }
    }
    const line = first?.lines[first.at];
    if (first === undefined || line === undefined) {
      return taken;
    }
    taken.push(line);
    first.at += 1;
  }
}
