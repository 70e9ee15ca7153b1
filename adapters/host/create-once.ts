/** A value that is created on first use. */
export interface CreatedOnce<Value> {
  /**
   * Returns the value, and creates it if necessary. @throws what `make` throws, to all callers that wait for that
   * attempt
   */
  get(): Promise<Value>;
  /** Returns the value if it was requested before and the attempt has not failed; never creates it. */
  created(): Promise<Value> | undefined;
}

/**
 * Creates a value that is expensive to make on first use, once for all callers.
 * @param make called once, and again on the next use after a failure
 */
export function createOnce<Value>(make: () => Promise<Value>): CreatedOnce<Value> {
  let created: Promise<Value> | undefined;
  return {
    get() {
      if (created === undefined) {
        created = make();
        created.catch(() => {
          created = undefined;
        });
      }
      return created;
    },
    created: () => created,
  };
}
