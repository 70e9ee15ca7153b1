import type { Clock } from "./clock.ts";
import type { StepFaults } from "./step-faults.ts";

/** What tests, and the demo world, replace in every system in memory. */
export interface SandboxOptions<Step> {
  /** The system's clock by default. */
  readonly clock?: Clock;
  /** None by default. */
  readonly faults?: StepFaults<Step>;
}
