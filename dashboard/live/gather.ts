/** Items of a burst, such as past events, are passed on together, because each call renders the page. */
const gatherMs = 40;

/** Collects items for a short time. */
export interface Gathering<T> {
  add(item: T): void;
  /** Discards items that have not been passed on. */
  end(): void;
}

/** @param take receives the items of one interval, in order */
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
