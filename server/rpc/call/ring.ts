/** An element of a ring, with its neighbours. */
export interface RingElement {
  previous: RingElement | undefined;
  next: RingElement | undefined;
}

/** Elements in order of insertion. */
export interface Ring<T extends RingElement> {
  /** Appends an element that is not in any ring. */
  add(element: T): void;
  /** Does nothing for an element that is not in it. */
  delete(element: T): void;
  first(): T | undefined;
  size(): number;
  /** Elements may be added and deleted during iteration, including the current one. */
  [Symbol.iterator](): Iterator<T>;
}

/**
 * Creates a ring for objects that are added and removed with every call. Not a Set: after some hundred insertions V8 moves it to
 * a new table, and the old one still refers to its elements and to the new table. Once one of the tables is in the old
 * generation, all later ones, and the calls in them, survive every scavenge until a full collection. The bench `grpc-echo` needs
 * it (docs/reference/benchmarks.md, A gRPC call).
 */
export function createRing<T extends RingElement>(): Ring<T> {
  const start: RingElement = { previous: undefined, next: undefined };
  let last: RingElement = start;
  let size = 0;
  /** Positions of iterations. After a deletion, the previous element. */
  const cursors: { at: RingElement }[] = [];
  return {
    add(element) {
      element.previous = last;
      last.next = element;
      last = element;
      size += 1;
    },
    delete(element) {
      const { previous, next } = element;
      if (previous === undefined) {
        return;
      }
      for (const cursor of cursors) {
        if (cursor.at === element) {
          cursor.at = previous;
        }
      }
      previous.next = next;
      if (next === undefined) {
        last = previous;
      } else {
        next.previous = previous;
      }
      element.previous = undefined;
      element.next = undefined;
      size -= 1;
    },
    first: () => start.next as T | undefined,
    size: () => size,
    *[Symbol.iterator]() {
      const cursor = { at: start };
      cursors.push(cursor);
      try {
        for (let element = start.next; element !== undefined; element = cursor.at.next) {
          cursor.at = element;
          yield element as T;
        }
      } finally {
        cursors.splice(cursors.indexOf(cursor), 1);
      }
    },
  };
}
