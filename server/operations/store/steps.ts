import type { TransactionContext } from "../../store/transaction.ts";
import type { Attention, OperationFailure } from "../operation.ts";
import {
  addCommands,
  change,
  changeStep,
  changeWithoutEvent,
  end,
  type Fenced,
  held,
  lost,
  type Written,
  written,
} from "./fenced-change.ts";
import { type OperationRow, withoutSecrets } from "./rows.ts";

/** Progress of the operation, as a whole (undefined: unchanged) and in its current step. */
export interface ProgressColumns {
  readonly message: string;
  readonly progress_ppm: number | undefined;
  readonly done_bytes: number | null;
  readonly total_bytes: number | null;
}

/** Writes of the gateway that has claimed an operation, while it runs. */
export const operationStepTransactions = {
  /** Begins a step, unless the operation was asked to stop and can still be cancelled. */
  async "operations.beginStep"(
    context: TransactionContext,
    args: Fenced & { step: string; attempt: number; message: string; progressPpm: number },
  ): Promise<Written> {
    const { step, attempt, message, progressPpm: progress_ppm } = args;
    const row = await held(context, args);
    if (row === undefined) {
      return lost;
    }
    if (isToStop(row)) {
      return cancelled;
    }
    await changeStep(context, args.id, step, { state: "running", attempt, error: null, ended_at: null });
    return change(context, args, { step, message, progress_ppm, done_bytes: null, total_bytes: null });
  },

  async "operations.endStep"(
    context: TransactionContext,
    args: Fenced & { step: string; outputJson: string; isPastReturn: boolean; progressPpm: number },
  ): Promise<Written> {
    if ((await held(context, args)) === undefined) {
      return lost;
    }
    await changeStep(context, args.id, args.step, {
      state: "done",
      output_json: args.outputJson,
      error: null,
      ended_at: context.nowMs,
    });
    return change(context, args, {
      progress_ppm: args.progressPpm,
      done_bytes: null,
      total_bytes: null,
      ...(args.isPastReturn ? { past_return: 1 } : {}),
    });
  },

  /** Records a failed attempt of a step that will be retried. */
  async "operations.failStep"(
    context: TransactionContext,
    args: Fenced & { step: string; error: string; message: string },
  ): Promise<Written> {
    if ((await held(context, args)) === undefined) {
      return lost;
    }
    const { error, message } = args;
    await changeStep(context, args.id, args.step, { state: "failed", error, ended_at: context.nowMs });
    return change(context, args, { message });
  },

  async "operations.progress"(
    context: TransactionContext,
    args: Fenced & { columns: ProgressColumns | undefined; isNews: boolean },
  ): Promise<Written> {
    if ((await held(context, args)) === undefined) {
      return lost;
    }
    if (args.columns === undefined) {
      await addCommands(context, args);
      return written;
    }
    const { progress_ppm, ...columns } = args.columns;
    const set = { ...columns, ...(progress_ppm === undefined ? {} : { progress_ppm }) };
    if (args.isNews) {
      return change(context, args, set);
    }
    await changeWithoutEvent(context, args, set);
    return written;
  },

  /** Begins to undo the operation; no step runs forward after this. `failed` is absent when it was cancelled. */
  async "operations.beginUndo"(
    context: TransactionContext,
    args: Fenced & {
      failed: { readonly step: string; readonly failure: OperationFailure } | undefined;
      message: string;
    },
  ): Promise<Written> {
    if ((await held(context, args)) === undefined) {
      return lost;
    }
    const { failed, message } = args;
    if (failed !== undefined) {
      await changeStep(context, args.id, failed.step, {
        state: "failed",
        error: failed.failure.message,
        ended_at: context.nowMs,
      });
    }
    return change(context, args, {
      state: "undoing",
      message,
      done_bytes: null,
      total_bytes: null,
      ...(failed === undefined ? {} : { error_json: JSON.stringify(failed.failure) }),
    });
  },

  /** Begins to undo a step. `error`: why a previous attempt to undo it failed. */
  async "operations.beginUndoStep"(
    context: TransactionContext,
    args: Fenced & { step: string; error: string | undefined; message: string },
  ): Promise<Written> {
    if ((await held(context, args)) === undefined) {
      return lost;
    }
    const { step, error, message } = args;
    await changeStep(context, args.id, step, {
      state: "undoing",
      ended_at: null,
      ...(error === undefined ? {} : { error }),
    });
    return change(context, args, { step, message });
  },

  async "operations.endUndoStep"(
    context: TransactionContext,
    args: Fenced & { step: string },
  ): Promise<Written> {
    if ((await held(context, args)) === undefined) {
      return lost;
    }
    await changeStep(context, args.id, args.step, { state: "undone", ended_at: context.nowMs });
    return change(context, args, {});
  },

  /** Completes the operation after its last step; refused if it was asked to stop and can still be cancelled. */
  async "operations.complete"(
    context: TransactionContext,
    args: Fenced & { resultJson: string },
  ): Promise<Written> {
    const row = await held(context, args);
    if (row === undefined) {
      return lost;
    }
    if (isToStop(row)) {
      return cancelled;
    }
    return end(context, args, {
      state: "completed",
      message: "done",
      progress_ppm: 1_000_000,
      result_json: args.resultJson,
      ...withoutSecrets(row),
    });
  },

  /** Ends the operation after all steps are undone. */
  async "operations.endUndo"(context: TransactionContext, args: Fenced): Promise<Written> {
    const row = await held(context, args);
    if (row === undefined) {
      return lost;
    }
    const outcome =
      row.cancel_requested === 1
        ? { state: "cancelled", error_json: null, message: "cancelled; everything was undone" }
        : { state: "failed", message: "failed; everything was undone" };
    return end(context, args, { ...outcome, ...withoutSecrets(row) });
  },

  /** Ends an operation that can be neither completed nor undone. Its secrets are kept, because it may be retried. */
  async "operations.giveUp"(
    context: TransactionContext,
    args: Fenced & {
      failed: { readonly step: string; readonly state: "failed" | "undoFailed" } | undefined;
      failure: OperationFailure;
      attention: Attention;
    },
  ): Promise<Written> {
    const row = await held(context, args);
    if (row === undefined) {
      return lost;
    }
    const { failed, failure, attention } = args;
    if (failed !== undefined) {
      await changeStep(context, args.id, failed.step, {
        state: failed.state,
        error: failure.message,
        ended_at: context.nowMs,
      });
    }
    return end(context, args, {
      state: "needsAttention",
      error_json: row.error_json ?? JSON.stringify(failure),
      attention_json: JSON.stringify(attention),
      message: failure.message,
    });
  },
};

const cancelled = { ok: false, why: "cancelled" } as const;

function isToStop({ cancel_requested, past_return }: OperationRow): boolean {
  return cancel_requested === 1 && past_return === 0;
}
