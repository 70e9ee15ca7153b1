import { InfraError } from "../host/infra-error.ts";
import type { Part } from "../host/part-of-state.ts";

/**
 * Converts the result of work to a part: its value, or the message of an InfraError. Other errors are bugs and are
 * rethrown.
 */
export async function partOf<T>(work: Promise<T>): Promise<Part<T>> {
  try {
    return { ok: await work };
  } catch (error) {
    if (error instanceof InfraError) {
      return { missing: error.message };
    }
    throw error;
  }
}

/** Converts the value of a part; a missing part stays missing. */
export function mapPart<T, U>(part: Part<T>, map: (value: T) => U): Part<U> {
  return "ok" in part ? { ok: map(part.ok) } : part;
}

/** Combines two parts; the result is missing if either is. */
export function bothParts<T, U>(first: Part<T>, second: Part<U>): Part<readonly [T, U]> {
  if ("missing" in first) {
    return first;
  }
  return mapPart(second, (value) => [first.ok, value] as const);
}

export interface SlowPart<T> {
  /** Returns the last value read. Only the first read is awaited, for at most `patienceMs`. */
  get(read: () => Promise<T>): Promise<Part<T>>;
}

const retryPatienceMs = 100;

/** Creates a part that is too expensive to read every time: it is read at an interval, in the background. */
export function createSlowPart<T>(everyMs: number, patienceMs: number): SlowPart<T> {
  let kept: { readonly part: Part<T>; readonly readAtMs: number } | undefined;
  let reading: Promise<void> | undefined;

  async function readOnce(read: () => Promise<T>): Promise<void> {
    const readAtMs = performance.now();
    try {
      kept = { part: await partOf(Promise.resolve().then(read)), readAtMs };
    } finally {
      reading = undefined;
    }
  }

  return {
    async get(read) {
      const ageMs = performance.now() - (kept?.readAtMs ?? Number.NEGATIVE_INFINITY);
      const isFailed = kept !== undefined && "missing" in kept.part;
      if (reading === undefined && (ageMs >= everyMs || isFailed)) {
        reading = readOnce(read);
        // A bug is reported by the current or the next caller that awaits it.
        reading.catch(() => {});
      }
      if (kept === undefined || isFailed) {
        // A read that failed must not delay the other parts every time.
        await atMost(reading, isFailed ? Math.min(patienceMs, retryPatienceMs) : patienceMs);
      }
      if (kept === undefined || performance.now() - kept.readAtMs > 4 * everyMs) {
        return { missing: "Ceph has not answered yet" };
      }
      return kept.part;
    },
  };
}

async function atMost(work: Promise<void> | undefined, ms: number): Promise<void> {
  const { promise: elapsed, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, elapsed]);
  } finally {
    clearTimeout(timer);
  }
}
