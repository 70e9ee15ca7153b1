import type { Clock } from "../../adapters/sandbox/clock.ts";
import type { Random } from "../../adapters/sandbox/random.ts";

/** How much the demo world of a sandbox holds. */
export interface WorldSizes {
  readonly volumes: number;
  readonly vms: number;
  readonly pods: number;
  readonly osds: number;
}

/**
 * The demo world: a sandbox with believable resources. Some have problems, and things happen by themselves.
 * Without it, a sandbox is quiet: it holds a few examples, and changes only by calls.
 */
export interface DemoWorld {
  readonly clock: Clock;
  /** Each part forks it, so that the parts do not depend on each other. */
  readonly random: Random;
  readonly sizes: WorldSizes;
}

interface SizeRange {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** The sizes of a world. The least ones leave room for the resources that have problems. */
export const worldSizeRanges: Readonly<Record<keyof WorldSizes, SizeRange>> = {
  volumes: { default: 60, min: 10, max: 10_000 },
  vms: { default: 12, min: 8, max: 1_000 },
  pods: { default: 20, min: 3, max: 2_000 },
  osds: { default: 6, min: 3, max: 1_000 },
};
