import type { Call } from "../call/call.ts";

/** Slots for a limited number of calls. Further calls wait in order of arrival. */
export interface Slots {
  /** Takes a slot for a call, now or as soon as one is free. */
  enter(call: Pick<Call, "onEnd">): Slot;
  /** Returns how many calls have a slot. */
  takenCount(): number;
}

export interface Slot {
  /**
   * Undefined if a slot was free. Otherwise resolves when the call has its slot, and rejects with the error if the call ends
   * before.
   */
  readonly entered: Promise<void> | undefined;
  /** Passes the slot to the next call, or stops waiting for one. Further calls do nothing. */
  leave(): void;
}

/** @param most how many calls can have a slot at once */
export function createSlots(most: number): Slots {
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
      let hasSlot = taken < most;
      let enter: (() => void) | undefined;
      let entered: Promise<void> | undefined;
      if (hasSlot) {
        taken += 1;
      } else {
        entered = new Promise((resolve, reject) => {
          enter = () => {
            hasSlot = true;
            resolve();
          };
          waiting.add(enter);
          call.onEnd(reject);
        });
      }
      return {
        entered,
        leave() {
          if (hasSlot) {
            hasSlot = false;
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
