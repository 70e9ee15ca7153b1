import { channel, tracingChannel } from "node:diagnostics_channel";
import type { WorkChannel } from "../../adapters/host/observation.ts";
import type { OperationState } from "./operation.ts";

/** A mutation that has got its turn; see adapters/host/observation.ts. */
export interface MutationObservation {
  /** What changes, e.g. `volumes.create`: one of a few. */
  readonly kind: string;
  readonly resource: string;
}

/** A durable operation that this gateway has claimed, until it lets go of it. */
export interface OperationObservation {
  readonly id: string;
  /** e.g. `volumes.backup`: one of a few. */
  readonly kind: string;
  readonly resource: string;
}

/** A durable operation that has ended by this gateway's doing. */
export interface OperationEnd {
  readonly kind: string;
  readonly state: OperationState;
  /** From when it was first begun, by the store's clock; 0 for one that never was. */
  readonly durationMs: number;
}

/** One step of a mutation or an operation, done or taken back. */
export interface StepObservation {
  /** e.g. `create`, or `undo create`. */
  readonly name: string;
}

/** Around the steps of each mutation. */
export const mutationChannel: WorkChannel<MutationObservation> = tracingChannel("hostplane:mutation");

/** Around each run of a durable operation. */
export const operationChannel: WorkChannel<OperationObservation> = tracingChannel("hostplane:operation");

/** Has an OperationEnd for each durable operation that ends. */
export const operationEndChannel = channel("hostplane:operation-end");

/** Around each step. */
export const stepChannel: WorkChannel<StepObservation> = tracingChannel("hostplane:step");
