import { setTimeout as delay } from "node:timers/promises";

const pollMs = 20;

/** Resolves once a condition, which is checked again and again, holds. */
export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) {
    await delay(pollMs);
  }
}
