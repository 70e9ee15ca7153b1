import type { LogLine } from "./log-line.ts";

/** Lines of one app, in its own order. */
interface LineQueue {
  lines: readonly LogLine[];
  at: number;
  /** Whether more may come. */
  isOpen: boolean;
}

/**
 * Lines of several apps in one order: by their times, and where those are the same, app by app. Each app's lines keep the order
 * they have, also where its clock was set back.
 */
export function mergeLines(apps: readonly (readonly LogLine[])[]): readonly LogLine[] {
  const [only] = apps;
  if (only !== undefined && apps.length === 1) {
    return only;
  }
  return drain(apps.map((lines) => ({ lines, at: 0, isOpen: false })));
}

/**
 * The same of lines that come bit by bit. It asks an app for more only when it has told all of what that had.
 * @param pulls give the next lines of an app, or undefined at its end
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

/** Takes lines until a queue that is open has none left, and so may have an earlier one. */
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
