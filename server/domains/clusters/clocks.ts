/** By which it is told how long something took. A process that was frozen finds out by either of them. */
export interface Clocks {
  monotonicMs(): number;
  /** Goes on while a machine is suspended, which the other need not do. */
  wallMs(): number;
}

export const processClocks: Clocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
