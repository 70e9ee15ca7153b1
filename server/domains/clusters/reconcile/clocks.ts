/** Clocks for measuring durations. A process that was frozen can detect it by either of them. */
export interface Clocks {
  monotonicMs(): number;
  /** Keeps running while the machine is suspended; the monotonic clock may stop. */
  wallMs(): number;
}

/** The clocks of this process. */
export const processClocks: Clocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
