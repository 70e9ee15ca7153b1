/** What comes in a burst, as the past does, is handed on together: each time is a rendering of the page. */
const gatherMs = 40;

/** Collects items for a moment. */
export interface Gathering<T> {
  add(item: T): void;
  /** Forgets what has not been handed on. */
  end(): void;
}

/** @param take is given what has come within a moment, in order */
export function gather<T>(take: (items: readonly T[]) => void): Gathering<T> {
  let items: T[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    const gathered = items;
    items = [];
    timer = undefined;
    take(gathered);
  };
  return {
    add(item) {
      items.push(item);
      timer ??= setTimeout(flush, gatherMs);
    },
    end() {
      clearTimeout(timer);
      items = [];
    },
  };
}
