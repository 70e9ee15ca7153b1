/** What stands in a ring: it knows its neighbours. */
export interface Link {
  previous: Link | undefined;
  next: Link | undefined;
}

/** Things in the order in which they came. */
export interface Ring<T extends Link> {
  /** Puts one that stands in no ring behind the others. */
  add(link: T): void;
  /** Does nothing for one that is not in it. */
  delete(link: T): void;
  first(): T | undefined;
  size(): number;
  /** Links may be added and deleted meanwhile, the current one as well. */
  [Symbol.iterator](): Iterator<T>;
}

/**
 * A ring for what comes and goes with every call. Not a Set: when it has taken in some hundred, V8 moves it into a new table,
 * and the old one refers to what it held and to the new one. Once one of them is in the old generation, all that come after
 * it are kept through every scavenge, and with them the calls, until a full collection.
 */
export function createRing<T extends Link>(): Ring<T> {
  const start: Link = { previous: undefined, next: undefined };
  let last: Link = start;
  let size = 0;
  /** Where iterations are: after a deletion, at the link before. */
  const cursors: { at: Link }[] = [];
  return {
    add(link) {
      link.previous = last;
      last.next = link;
      last = link;
      size += 1;
    },
    delete(link) {
      const { previous, next } = link;
      if (previous === undefined) {
        return;
      }
      for (const cursor of cursors) {
        if (cursor.at === link) {
          cursor.at = previous;
        }
      }
      previous.next = next;
      if (next === undefined) {
        last = previous;
      } else {
        next.previous = previous;
      }
      link.previous = undefined;
      link.next = undefined;
      size -= 1;
    },
    first: () => start.next as T | undefined,
    size: () => size,
    *[Symbol.iterator]() {
      const cursor = { at: start };
      cursors.push(cursor);
      try {
        for (let link = start.next; link !== undefined; link = cursor.at.next) {
          cursor.at = link;
          yield link as T;
        }
      } finally {
        cursors.splice(cursors.indexOf(cursor), 1);
      }
    },
  };
}
