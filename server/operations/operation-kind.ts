import type { Reason } from "../../adapters/host/define-reasons.ts";
import type { Attention, Json } from "./operation.ts";

/** One run of one step, forward or undo. */
export interface StepRun<Input, Secrets> {
  readonly operationId: string;
  /**
   * Unique to this step of this operation, and the same at every attempt. The step marks its effect with it, to find it again.
   */
  readonly token: string;
  readonly input: Input;
  readonly secrets: Secrets;
  /** Number of this attempt of the step, from 1. */
  readonly attempt: number;
  /** Returns the output of a completed step. */
  output(step: string): Json | undefined;
  /**
   * Aborted when the operation is cancelled while an abortable step runs, or when another gateway has taken over. A step that
   * continues after a takeover can no longer write, and does no harm if it is safe to repeat.
   */
  readonly signal: AbortSignal;
  /** Reports the progress of the step; it is stored and published at most once a second. */
  progress(update: {
    readonly message?: string;
    readonly doneBytes?: number;
    readonly totalBytes?: number;
  }): void;
}

/** One step of an operation kind, and its undo. */
export interface OperationStep<Input, Secrets> {
  /** A short name, e.g. `snapshot`. Must never change, because it is stored. */
  readonly name: string;
  /** What the step does, as progress text: `making a snapshot`. */
  readonly title: string;
  /** Share of the whole operation's duration, in any unit. Default: 1. */
  readonly weight?: number;
  /** Whether Cancel aborts it while it runs; otherwise Cancel waits until it ends. */
  readonly isAbortable: boolean;
  /**
   * Maximum number of attempts when failures are retryable. Default: 3. A failure that is not retryable ends the step at once.
   */
  readonly maxAttempts?: number;
  /** Reasons that end the step at once although they are retryable, because another attempt would not help. */
  readonly finalReasons?: readonly Reason[];
  /**
   * Checks whether an earlier run took full effect. Called before `forward` is repeated, after a run that failed or whose
   * outcome is unknown. It first waits until nothing of the earlier run is still active. Without it, `forward` must be safe to
   * repeat.
   * @returns the output if it took effect, else undefined
   */
  happened?(run: StepRun<Input, Secrets>): Promise<{ readonly output: Json } | undefined>;
  /** @returns data for later steps and for undo, without secrets */
  forward(run: StepRun<Input, Secrets>): Promise<Json>;
  /**
   * Undoes all effects of `forward`, including those of runs that failed, were aborted, or have an unknown outcome. Must be safe
   * to repeat; removes only what this operation created. Absent where there is nothing to undo.
   */
  undo?(run: StepRun<Input, Secrets>): Promise<void>;
  /** Describes what is left and what to do, when `undo` (or `forward` past the point of no return) has failed for good. */
  attention?(run: StepRun<Input, Secrets>, error: Error): Attention;
}

/** A kind of durable operations. It defines what every operation of the kind does. */
export interface OperationKind<Input extends Json, Secrets extends Json = null> {
  /** e.g. `volumes.backup`. Must never change, because it is stored. */
  readonly kind: string;
  /** System whose limit on running operations it counts against, e.g. `lvm`. */
  readonly system: string;
  /**
   * Whether the operation follows a change that was made before it begins, and that other components carry out. There is no
   * limit on how many run at once, and one that is cancelled while it waits is undone. If there is nothing to undo, it cannot be
   * cancelled.
   */
  readonly followsChange?: boolean;
  /** `host`: only on the host that has the tool it needs. */
  readonly runsOn: "host" | "anywhere";
  /** In order. Stored operations are matched by step name, so a new version may add and drop steps. */
  readonly steps: readonly OperationStep<Input, Secrets>[];
  /**
   * Name of the first step that cannot be undone once it has succeeded: after that, Cancel is refused, and a failure results in
   * NEEDS_ATTENTION. Undefined: all steps can be undone.
   */
  readonly pointOfNoReturn?: string;
  /** Builds the result for callers from the outputs of the steps. */
  result(run: Pick<StepRun<Input, Secrets>, "input" | "output" | "operationId">): Json;
}
