import type { ReasonName } from "../../adapters/host/reasons.ts";
import type { Attention, Json } from "./operation.ts";

/** One run of one step, forward or back. */
export interface StepRun<Input, Secrets> {
  readonly operationId: string;
  /**
   * The same at every attempt of this step, and no other step's: what the step marks its effect with, so that it can be
   * found again.
   */
  readonly token: string;
  readonly input: Input;
  readonly secrets: Secrets;
  /** Which run of this step it is, from 1 on. */
  readonly attempt: number;
  /** What a step of this name returned, when it is done. */
  output(step: string): Json | undefined;
  /**
   * Aborted when the operation is cancelled while an abortable step runs, or when another gateway has taken it over. A
   * step that goes on after the latter cannot write any more, and does no harm if it is safe to repeat.
   */
  readonly signal: AbortSignal;
  /** Tells how far the step is; kept and published at most once a second. */
  progress(told: {
    readonly message?: string;
    readonly doneBytes?: number;
    readonly totalBytes?: number;
  }): void;
}

/** One step of a kind of operations, and how to take it back. */
export interface OperationStep<Input, Secrets> {
  /** A short name, e.g. `snapshot`. Never changes, for it is kept. */
  readonly name: string;
  /** What it does, for progress: `making a snapshot`. */
  readonly title: string;
  /** Share of the whole operation's time, in any unit; 1 unless told. */
  readonly weight?: number;
  /** Cancel aborts it while it runs; otherwise Cancel waits for its end. */
  readonly isAbortable: boolean;
  /** How often it is run before a retryable failure counts; 3 unless told. Another failure counts at once. */
  readonly maxAttempts?: number;
  /** Failures that count at once although they are retryable: another attempt of this operation cannot mend them. */
  readonly finalReasons?: readonly ReasonName[];
  /**
   * Asked before `forward` is run again, after a run that failed or whose end nobody saw: whether the effect is there as a
   * whole. It first waits until nothing of the earlier run goes on. Without it `forward` is safe to repeat.
   * @returns the output when it happened, undefined when it did not
   */
  happened?(run: StepRun<Input, Secrets>): Promise<{ readonly output: Json } | undefined>;
  /** @returns what later steps and the undoing need to know, without secrets */
  forward(run: StepRun<Input, Secrets>): Promise<Json>;
  /**
   * Takes back whatever a run of `forward` has done, also one that failed, was aborted or whose end nobody saw. Safe to
   * repeat; removes only what this operation made. Absent where there is nothing to take back.
   */
  undo?(run: StepRun<Input, Secrets>): Promise<void>;
  /** What is left, and what to do, when `undo` (or `forward` past the point of no return) has failed for good. */
  attention?(run: StepRun<Input, Secrets>, error: Error): Attention;
}

/** A kind of durable operations: what every operation of it does, whoever asks for it. */
export interface OperationKind<Input extends Json, Secrets extends Json = null> {
  /** e.g. `volumes.backup`. Never changes, for it is kept. */
  readonly kind: string;
  /** Whose limit of operations at once it counts for, e.g. `lvm`. */
  readonly system: string;
  /**
   * Whether it follows a change that is made before it begins, and that others carry out: as many run at once as there are, and one
   * that is cancelled while it waits is undone. Without anything to undo it cannot be cancelled.
   */
  readonly followsChange?: boolean;
  /** `host`: only on the host whose tool it needs. */
  readonly runsOn: "host" | "anywhere";
  /** In order. Kept operations are matched by name, so a new version may add and drop steps. */
  readonly steps: readonly OperationStep<Input, Secrets>[];
  /**
   * Name of the first step that cannot be taken back once it has succeeded: from its success on Cancel is refused, and a
   * failure is NEEDS_ATTENTION. Undefined: all can.
   */
  readonly pointOfNoReturn?: string;
  /** What came of it, for who asks; from the outputs of its steps. */
  result(run: Pick<StepRun<Input, Secrets>, "input" | "output" | "operationId">): Json;
}
