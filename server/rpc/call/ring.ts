/** An element of a ring, with its neighbours. */
export interface Link {
  previous: Link | undefined;
  next: Link | undefined;
}

/** Elements in order of insertion. */
export interface Ring<T extends Link> {
  /** Appends an element that is not in any ring. */
  add(link: T): void;
  /** Does nothing for an element that is not in it. */
  delete(link: T): void;
  first(): T | undefined;
  size(): number;
  /** Elements may be added and deleted during iteration, including the current one. */
  [Symbol.iterator](): Iterator<T>;
}

/**
 * Creates a ring for objects that are added and removed with every call. Not a Set: after some hundred insertions V8 moves it to
 * a new table, and the old one still refers to its elements and to the new table. Once one of the tables is in the old
 * generation, all later ones, and the calls in them, survive every scavenge until a full collection.
 */
export function createRing<T extends Link>(): Ring<T> {
  const start: Link = { previous: undefined, next: undefined };
  let last: Link = start;
  let size = 0;
  /** Positions of iterations. After a deletion, the previous element. */
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
