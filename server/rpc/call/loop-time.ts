/** An account for time of the event loop. */
export interface Charged {
  spend(cpuMs: number): void;
}

let charged: Charged | undefined;
let sinceMs = 0;

/** Share of the loop's working time that is CPU time: below 1 on a busy host. */
let cpuShare = 1;
let sample = { atMs: 0, cpuMs: 0, activeMs: 0 };
const sampleEveryMs = 100;

/**
 * Charges the CPU time of the following work in this turn of the event loop, until something else is charged or its promises are
 * settled. It reads the wall clock, since CPU time takes a system call, and corrects it by the CPU time ten times a second.
 */
export function chargeLoopTime(to: Charged): void {
  const now = performance.now();
  if (charged === undefined) {
    process.nextTick(endTurn);
  } else {
    settle(now);
  }
  charged = to;
  sinceMs = now;
}

function endTurn(): void {
  settle(performance.now());
  charged = undefined;
}

function settle(now: number): void {
  if (now - sample.atMs > sampleEveryMs) {
    correct(now);
  }
  charged?.spend((now - sinceMs) * cpuShare);
}

function correct(atMs: number): void {
  const { user, system } = process.threadCpuUsage();
  const cpuMs = (user + system) / 1000;
  const activeMs = performance.eventLoopUtilization().active;
  const workedMs = activeMs - sample.activeMs;
  if (sample.atMs > 0 && workedMs > 1) {
    cpuShare = Math.min((cpuMs - sample.cpuMs) / workedMs, 1);
  }
  sample = { atMs, cpuMs, activeMs };
}
