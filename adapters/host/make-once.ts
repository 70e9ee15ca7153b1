/** What is made when it is first asked for. */
export interface MadeOnce<Made> {
  /** It, made now if it is not. @throws what `make` throws, to all who wait for that attempt */
  get(): Promise<Made>;
  /** It, where somebody has asked for it and the attempt has not failed; nothing is made for this. */
  made(): Promise<Made> | undefined;
}

/**
 * Has something that costs time to make be made when it is first asked for, once for all who ask.
 * @param make called once, and again by the next who asks after it has failed
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
