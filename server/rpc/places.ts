import type { Call } from "./call.ts";

/** Places for a limited number of calls; further calls wait for one in the order in which they came. */
export interface Places {
  /** Takes a place for a call, now or as soon as one is free. */
  enter(call: Pick<Call, "onEnd">): Place;
  /** How many calls have a place. */
  takenCount(): number;
}

export interface Place {
  /**
   * Undefined when the place was free. Otherwise it resolves when the call has its place, and rejects with what ended the call
   * before that.
   */
  readonly entered: Promise<void> | undefined;
  /** Gives the place to the next call, or stops waiting for one. Later calls of it do nothing. */
  leave(): void;
}

/** @param most how many calls have a place at once */
export function createPlaces(most: number): Places {
  const waiting = new Set<() => void>();
  let taken = 0;

  function free(): void {
    const [next] = waiting;
    if (next === undefined) {
      taken -= 1;
    } else {
      waiting.delete(next);
      next();
    }
  }

  return {
    enter(call) {
      let hasPlace = taken < most;
      let enter: (() => void) | undefined;
      let entered: Promise<void> | undefined;
      if (hasPlace) {
        taken += 1;
      } else {
        entered = new Promise((resolve, reject) => {
          enter = () => {
            hasPlace = true;
            resolve();
          };
          waiting.add(enter);
          call.onEnd(reject);
        });
      }
      return {
        entered,
        leave() {
          if (hasPlace) {
            hasPlace = false;
            free();
          } else if (enter !== undefined) {
            waiting.delete(enter);
          }
        },
      };
    },
    takenCount: () => taken,
  };
}
