import { tracingChannel } from "node:diagnostics_channel";
import type { WorkChannel } from "../../adapters/host/observation.ts";

/** A mutation that has got its turn; see adapters/host/observation.ts. */
export interface MutationObservation {
  /** What changes, e.g. `volumes.create`: one of a few. */
  readonly kind: string;
  readonly resource: string;
}

/** One step of a mutation, done or taken back. */
export interface StepObservation {
  /** e.g. `create`, or `undo create`. */
  readonly name: string;
}

/** Around the steps of each mutation. */
export const mutationChannel: WorkChannel<MutationObservation> = tracingChannel("hostplane:mutation");

/** Around each step. */
export const stepChannel: WorkChannel<StepObservation> = tracingChannel("hostplane:step");
