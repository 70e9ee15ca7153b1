import { AsyncLocalStorage } from "node:async_hooks";

/** Changes that this gateway makes, each from its beginning until its effect is told. */
export interface OwnChangeLog<Change> {
  /** Makes a change. @throws what `make` throws */
  during<T>(change: Change, make: () => Promise<T>): Promise<T>;
  find(fits: (change: Change) => boolean): Change | undefined;
  /** Forgets changes of which all is told by a state whose read began at that time (performance.now()). */
  forget(readAtMs: number): void;
}

interface Remembered<Change> {
  readonly change: Change;
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
  // What is read to tell of a change is not the work of the call that has made it.
  const outsideCalls = AsyncLocalStorage.snapshot();

  async function awaitShown(entry: Remembered<Change>): Promise<void> {
    const { readAtMs } = await read().catch(() => ({ readAtMs: performance.now() }));
    entry.shownAtMs = readAtMs;
  }

  return {
    async during(change, make) {
      const entry = { change, shownAtMs: undefined };
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
    find: (fits) => [...remembered].find(({ change }) => fits(change))?.change,
    forget(readAtMs) {
      for (const entry of remembered) {
        if (entry.shownAtMs !== undefined && entry.shownAtMs <= readAtMs) {
          remembered.delete(entry);
        }
      }
    },
  };
}
