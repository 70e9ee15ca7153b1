import { AsyncLocalStorage } from "node:async_hooks";

/** Attributes differences between two states of a system to the changes that this gateway makes. */
export interface Attribution<Difference, Change> {
  /**
   * Returns the change that caused a difference; undefined for a difference from outside.
   * @param readAtMs when the read that shows the difference began (performance.now())
   */
  find(difference: Difference, readAtMs: number): Change | undefined;
  /** Forgets changes that are fully visible in a state whose read began at that time (performance.now()). */
  forget(readAtMs: number): void;
}

/** Changes that this gateway makes, each from its start until its effect is published. */
export interface OwnChangeLog<Change> {
  /** Runs a change. @throws the errors of `make` */
  during<T>(change: Change, make: () => Promise<T>): Promise<T>;
  /**
   * Finds the change that caused a difference: of the matching changes, the last one that had begun when the read of the state
   * began. A slow read may show a change that began after it; if there is no other match, the first of those is returned.
   * @param readAtMs when the read of the state began (performance.now())
   */
  find(fits: (change: Change) => boolean, readAtMs: number): Change | undefined;
  /**
   * Forgets changes whose whole effect was in a state whose read began at that time (performance.now()), because that state has
   * been compared with the one before it.
   */
  forget(readAtMs: number): void;
}

interface Remembered<Change> {
  readonly change: Change;
  readonly beganAtMs: number;
  /** Start of the first read that shows all its effects (performance.now()); undefined until then. */
  shownAtMs: number | undefined;
}

/** Maximum number of remembered changes, reached only while changes are not published. */
const maxRemembered = 1000;

/** @param read reads the state of the system, in the same way as the observer */
export function createOwnChangeLog<Change>(
  read: () => Promise<{ readonly readAtMs: number }>,
): OwnChangeLog<Change> {
  const remembered = new Set<Remembered<Change>>();
  let comparedAtMs = Number.NEGATIVE_INFINITY;
  // The read after a change must not be attributed to the call that made the change.
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
