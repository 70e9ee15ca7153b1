import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { ReasonName } from "./reasons.ts";

/**
 * What adapters tell of their work, to whoever subscribes to these channels of `node:diagnostics_channel`: metrics
 * and traces. The channels are the process's. Nothing is made and nothing is called while nobody listens.
 *
 * Each is a TracingChannel around one promise: `start` when the work begins, `asyncEnd` when it has ended, with
 * the same object both times, which then has `error` if the work failed.
 */

/** A tool that is started. */
export interface ToolObservation {
  /** The program's file name, e.g. `lvm`: one of the few that the gateway is configured with. */
  readonly program: string;
  /** What the program is told to do, e.g. `lvcreate`, one of a few; empty for a program with one purpose. */
  readonly subcommand: string;
  readonly kind: "read" | "mutate";
  /** Holds names that callers chose: for a trace, never for the label of a metric. */
  readonly argv: readonly string[];
  /** How it ended; undefined until then, and for one that was not started because its caller had left. */
  outcome: ToolOutcome | undefined;
}

export interface ToolOutcome {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly durationMs: number;
  /** Why it was stopped or could not be started; undefined when it ended by itself. */
  readonly failure: ReasonName | undefined;
}

/** A load of the snapshot that the readers of a system share. */
export interface SnapshotObservation {
  /** The system's name, e.g. `lvm`. */
  readonly system: string;
}

/** A wait for a turn; work that finds its turn free does not wait and is not told. */
export interface WaitObservation {
  /** What is waited for, e.g. `lvm commands`: one of a few. */
  readonly queue: string;
}

/** A channel whose observers may keep anything per work. */
export type WorkChannel<Observation extends object> = TracingChannel<Observation, unknown>;

/** Around each `run()` that starts a tool. */
export const toolChannel: WorkChannel<ToolObservation> = tracingChannel("hostplane:tool");

/** Around each load of a snapshot. */
export const snapshotChannel: WorkChannel<SnapshotObservation> = tracingChannel("hostplane:snapshot");

/** Around each wait in a queue. */
export const waitChannel: WorkChannel<WaitObservation> = tracingChannel("hostplane:wait");
