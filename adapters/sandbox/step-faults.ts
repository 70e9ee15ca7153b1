import type { InfraError } from "../host/infra-error.ts";

/** Returns the error with which a step fails; undefined if it works. It is called for every step. */
export type StepFault<Step> = (step: Step) => InfraError | undefined;

/** The faults of a system in memory: steps that fail, and outages. */
export interface StepFaults<Step> {
  /** @param times number of steps that fail; all by default */
  add(fault: StepFault<Step>, times?: number): void;
  /** @throws InfraError of the oldest fault that applies */
  assertWorks(step: Step): void;
  /** Makes the system unreachable with this error, until called with undefined. */
  setOutage(error: InfraError | undefined): void;
  outage(): InfraError | undefined;
  /** @throws InfraError during an outage */
  assertReachable(): void;
}

/** Starts with these faults, which apply to every step, and without an outage. */
export function createStepFaults<Step>(...first: readonly StepFault<Step>[]): StepFaults<Step> {
  const faults = new Map(first.map((fault) => [fault, Number.POSITIVE_INFINITY]));
  let outage: InfraError | undefined;
  return {
    add: (fault, times = Number.POSITIVE_INFINITY) => void faults.set(fault, times),
    assertWorks(step) {
      for (const [fault, left] of faults) {
        const error = left > 0 ? fault(step) : undefined;
        if (error !== undefined) {
          faults.set(fault, left - 1);
          throw error;
        }
      }
    },
    setOutage(error) {
      outage = error;
    },
    outage: () => outage,
    assertReachable() {
      if (outage !== undefined) {
        throw outage;
      }
    },
  };
}
