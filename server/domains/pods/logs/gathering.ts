/** What several sources bring, as it comes. */
export interface Gathering<T> {
  /** Reads one more source. */
  add(source: AsyncIterator<T, void>): void;
  /**
   * All that has come, a piece of each source at most, oldest first. Waits for that, for a source's end and for `wake`, after which
   * there may be nothing. A source is read on when what it brought is taken.
   * @throws what a source throws
   */
  take(): Promise<readonly T[]>;
  wake(): void;
  /** Lets go of all sources: nobody takes any more. One that is being read lets go when its own wait ends. */
  close(): void;
}

/** A slow taker has every source wait. */
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
      // What was brought and not taken: its source ends instead of waiting for that.
      taken.resolve();
    },
  };
}
