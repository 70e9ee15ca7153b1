import { channel, tracingChannel } from "node:diagnostics_channel";
import type { WorkChannel } from "../../adapters/host/observation.ts";
import type { OperationState } from "./operation.ts";

/** A mutation that has started; see adapters/host/observation.ts. */
export interface MutationObservation {
  /** Kind of change, e.g. `volumes.create`; low cardinality. */
  readonly kind: string;
  readonly resource: string;
}

/** A durable operation that this gateway has claimed, until it releases it. */
export interface OperationObservation {
  readonly id: string;
  /** Operation kind, e.g. `volumes.backup`; low cardinality. */
  readonly kind: string;
  readonly resource: string;
}

/** The end of a durable operation, caused by this gateway. */
export interface OperationEnd {
  readonly kind: string;
  readonly state: OperationState;
  /** Time since its first start, by the store's clock; 0 if it never started. */
  readonly durationMs: number;
}

/** One step of a mutation or an operation, run forward or undone. */
export interface StepObservation {
  /** e.g. `create`, or `undo create`. */
  readonly name: string;
}

/** Traces the steps of each mutation. */
export const mutationChannel: WorkChannel<MutationObservation> = tracingChannel("hostplane:mutation");

/** Traces each run of a durable operation. */
export const operationChannel: WorkChannel<OperationObservation> = tracingChannel("hostplane:operation");

/** Publishes an OperationEnd for each durable operation that ends. */
export const operationEndChannel = channel("hostplane:operation-end");

/** Traces each step. */
export const stepChannel: WorkChannel<StepObservation> = tracingChannel("hostplane:step");
