import type { Test } from "tap";
import type { Part } from "../../adapters/host/part-of-state.ts";

/** Returns the value of a part. @throws Error if it is missing */
export function okOf<T>(part: Part<T>): T {
  if ("missing" in part) {
    throw new Error(`missing: ${part.missing}`);
  }
  return part.ok;
}

/** A system whose state can be read. */
interface Readable<State> {
  read(): Promise<{ readonly value: State }>;
}

/** Reads until the state meets the condition, for up to 90 s; failed reads are retried. */
export async function until<State>(
  t: Test,
  system: Readable<State>,
  isReached: (state: State) => boolean,
): Promise<State> {
  const deadlineMs = performance.now() + 90_000;
  let last: unknown;
  while (performance.now() < deadlineMs) {
    try {
      const { value } = await system.read();
      if (isReached(value)) {
        t.pass("the state was reached");
        return value;
      }
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.comment(last);
  throw new Error("the state did not come in 90 s");
}
