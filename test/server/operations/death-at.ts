import type { MortalStore } from "./engine-under-test.ts";
import { isKillPoint } from "./kill-point.ts";

/** The death of a gateway at a boundary of an operation. */
export interface Death {
  /** To be called at each boundary; never resolves once the gateway is dead. */
  readonly boundary: (name: string) => Promise<void> | undefined;
  /** Resolves with the name of the boundary. */
  readonly died: Promise<string>;
}

/** @param dieAt the number of the boundary at which the gateway dies, counted from 1 */
export function deathAt(mortal: MortalStore, dieAt: number): Death {
  const { promise: died, resolve } = Promise.withResolvers<string>();
  let boundaries = 0;
  return {
    died,
    boundary(name) {
      boundaries += isKillPoint(name) ? 1 : 0;
      if (boundaries === dieAt && !mortal.isDead) {
        mortal.die();
        resolve(name);
      }
      return mortal.isDead ? new Promise(() => {}) : undefined;
    },
  };
}
