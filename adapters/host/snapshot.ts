/** A value read from a system, and how old it is. */
export interface Snapshot<T> {
  readonly value: T;
  /** Grows by one each time the value differs from the one before. */
  readonly revision: number;
  /** When the read that produced it began (performance.now(), milliseconds). */
  readonly readAtMs: number;
}
