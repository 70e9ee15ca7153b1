import { AsyncLocalStorage } from "node:async_hooks";

/** Changes that this gateway makes, each from its beginning until its effect is told. */
export interface OwnChangeLog<Change> {
  /** Makes a change. @throws what `make` throws */
  during<T>(change: Change, make: () => Promise<T>): Promise<T>;
  /**
   * The change that a difference comes from: of those that fit, the last one that had begun when the read of the state began.
   * A slow read may show a change that began after it; the first of those is taken if there is no other.
   * @param readAtMs when the read of the state began (performance.now())
   */
  find(fits: (change: Change) => boolean, readAtMs: number): Change | undefined;
  /**
   * Forgets changes whose whole effect is in a state whose read began at that time (performance.now()): it has been compared
   * with the one before.
   */
  forget(readAtMs: number): void;
}

interface Remembered<Change> {
  readonly change: Change;
  readonly beganAtMs: number;
  /** When the read began by which all its effects are seen (performance.now()); undefined until then. */
  shownAtMs: number | undefined;
}

/** While nobody tells of changes, no more of them are remembered. */
const maxRemembered = 1000;

/** @param read the state of the system, as who tells of it reads it */
export function createOwnChangeLog<Change>(
  read: () => Promise<{ readonly readAtMs: number }>,
): OwnChangeLog<Change> {
  const remembered = new Set<Remembered<Change>>();
  let comparedAtMs = Number.NEGATIVE_INFINITY;
  // What is read to tell of a change is not the work of the call that has made it.
  const outsideCalls = AsyncLocalStorage.snapshot();

  async function awaitShown(entry: Remembered<Change>): Promise<void> {
    const { readAtMs } = await read().catch(() => ({ readAtMs: performance.now() }));
    entry.shownAtMs = readAtMs;
    forgetShown(entry);
  }

  function forgetShown(entry: Remembered<Change>): void {
    if (entry.shownAtMs !== undefined && entry.shownAtMs <= comparedAtMs) {
      remembered.delete(entry);
    }
  }

  return {
    async during(change, make) {
      const entry = { change, beganAtMs: performance.now(), shownAtMs: undefined };
      remembered.add(entry);
      const [oldest] = remembered;
      if (remembered.size > maxRemembered && oldest !== undefined) {
        remembered.delete(oldest);
      }
      try {
        return await make();
      } finally {
        void outsideCalls(awaitShown, entry);
      }
    },
    find(fits, readAtMs) {
      const fitting = [...remembered].filter(({ change }) => fits(change));
      return (fitting.findLast(({ beganAtMs }) => beganAtMs <= readAtMs) ?? fitting[0])?.change;
    },
    forget(readAtMs) {
      comparedAtMs = Math.max(comparedAtMs, readAtMs);
      for (const entry of remembered) {
        forgetShown(entry);
      }
    },
  };
}
