/** Merges several sources as their values arrive. */
export interface Gathering<T> {
  /** Adds a source. */
  add(source: AsyncIterator<T, void>): void;
  /**
   * Returns all values that have arrived, at most one per source, oldest first. Waits for a value, for the end of a source or
   * for `wake`; after the latter two the result may be empty. A source is read further once its value is taken.
   * @throws what a source throws
   */
  take(): Promise<readonly T[]>;
  wake(): void;
  /** Closes all sources. One that is being read closes when its own wait ends. */
  close(): void;
}

/** Creates a gathering. A slow consumer makes every source wait. */
export function createGathering<T>(): Gathering<T> {
  let come: T[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  let hasWoken = false;
  let taken = Promise.withResolvers<void>();
  const sources = new Set<AsyncIterator<T, void>>();

  async function read(source: AsyncIterator<T, void>): Promise<void> {
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      come.push(next.value);
      wake();
      await taken.promise;
    }
  }

  return {
    add(source) {
      sources.add(source);
      read(source)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          sources.delete(source);
          hasWoken = true;
          wake();
        });
    },
    async take() {
      if (come.length === 0 && failure === undefined && !hasWoken) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      hasWoken = false;
      if (failure !== undefined) {
        throw failure.error;
      }
      const all = come;
      come = [];
      taken.resolve();
      taken = Promise.withResolvers();
      return all;
    },
    wake() {
      hasWoken = true;
      wake();
    },
    close() {
      for (const source of sources) {
        source.return?.().catch(() => {});
      }
      // Lets sources with values that were not taken end instead of waiting.
      taken.resolve();
    },
  };
}
