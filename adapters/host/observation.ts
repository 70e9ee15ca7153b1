import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";

/**
 * Channels of `node:diagnostics_channel` on which adapters report their work, for metrics and traces. The channels are
 * global to the process. Without subscribers nothing is created or called.
 *
 * Each is a TracingChannel around one promise: `start` when the work begins, `asyncEnd` when it has ended, both with
 * the same object, which has `error` if the work failed.
 */

/** A run of a tool. */
export interface ToolObservation {
  /** The program's file name, e.g. `lvm`. One of the few that the gateway is configured with. */
  readonly program: string;
  /** The program's subcommand, e.g. `lvcreate`, from a small set; empty for a program without subcommands. */
  readonly subcommand: string;
  readonly kind: "read" | "mutate";
  /** Contains names chosen by callers: suitable for traces, but not for metric labels. */
  readonly argv: readonly string[];
  /** Result of the run; undefined until it ends, and if the tool was not started because its caller had left. */
  outcome: ToolOutcome | undefined;
}

export interface ToolOutcome {
  /** null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly durationMs: number;
  /** Reason why it was stopped or could not be started; undefined if it exited by itself. */
  readonly failure: string | undefined;
}

/** A load of the snapshot that all readers of a system share. */
export interface SnapshotObservation {
  /** The system's name, e.g. `lvm`. */
  readonly system: string;
}

/** A wait in a queue. Work that finds a free slot does not wait and is not reported. */
export interface WaitObservation {
  /** Name of the queue, e.g. `lvm commands`, from a small set. */
  readonly queue: string;
}

/** A channel whose observers may keep any state per piece of work. */
export type WorkChannel<Observation extends object> = TracingChannel<Observation, unknown>;

/** Around each `run()` that starts a tool. */
export const toolChannel: WorkChannel<ToolObservation> = tracingChannel("hostplane:tool");

/** Around each load of a snapshot. */
export const snapshotChannel: WorkChannel<SnapshotObservation> = tracingChannel("hostplane:snapshot");

/** Around each wait in a queue. */
export const waitChannel: WorkChannel<WaitObservation> = tracingChannel("hostplane:wait");
