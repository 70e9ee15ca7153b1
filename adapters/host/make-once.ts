/** A value that is created on first use. */
export interface MadeOnce<Made> {
  /**
   * Returns the value, and creates it if necessary. @throws what `make` throws, to all callers that wait for that
   * attempt
   */
  get(): Promise<Made>;
  /** Returns the value if it was requested before and the attempt has not failed; never creates it. */
  made(): Promise<Made> | undefined;
}

/**
 * Creates a value that is expensive to make on first use, once for all callers.
 * @param make called once, and again on the next use after a failure
 */
export function makeOnce<Made>(make: () => Promise<Made>): MadeOnce<Made> {
  let made: Promise<Made> | undefined;
  return {
    get() {
      if (made === undefined) {
        made = make();
        made.catch(() => {
          made = undefined;
        });
      }
      return made;
    },
    made: () => made,
  };
}
