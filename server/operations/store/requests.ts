import type { TransactionContext } from "../../store/transaction.ts";
import type { Attention, Operation } from "../operation.ts";
import { type OperationRow, operationOf, publishOperation, rowOf, stepsOf, withoutSecrets } from "./rows.ts";
import { isStranded } from "./unknown-kind.ts";

/** `detail`: the current state, or the ID of the conflicting operation. */
export type Requested<Why extends string> =
  | { readonly ok: true; readonly operation: Operation }
  | { readonly ok: false; readonly why: Why; readonly detail: string };

export type CancelOutcome = Requested<"missing" | "ended" | "pastReturn">;
export type RetryOutcome = Requested<"missing" | "state" | "secretsGone" | "attached">;

/** Requests of users about an operation. */
export const operationRequestTransactions = {
  /** Requests cancellation; an operation that has not done anything ends immediately. */
  async "operations.cancel"(context: TransactionContext, { id }: { id: string }): Promise<CancelOutcome> {
    const { db, nowMs, notify } = context;
    const row = await rowOf(context, id);
    if (row === undefined) {
      return { ok: false, why: "missing", detail: "" };
    }
    if (row.state === "needsAttention") {
      return { ok: true, operation: await giveUp(context, row) };
    }
    if (row.ended_at !== null) {
      return { ok: false, why: "ended", detail: row.state };
    }
    const started = await stepStatesOf(context, id);
    if (isStranded(row) && started.size > 0) {
      return { ok: true, operation: await endStranded(context, row) };
    }
    if (row.past_return === 1) {
      return { ok: false, why: "pastReturn", detail: row.state };
    }
    const isOver = started.size === 0 && (row.state === "scheduled" || isStranded(row));
    // An operation that is being undone has already stopped.
    if (!isOver && (row.cancel_requested === 1 || row.state === "undoing" || started.has("undoing"))) {
      return { ok: true, operation: await operationOf(context, row) };
    }
    const changed = await db
      .updateTable("operations")
      .set({
        cancel_requested: 1,
        ...(isOver
          ? {
              state: "cancelled",
              message: "cancelled before it began",
              waiting_for: "",
              ended_at: nowMs,
              ...withoutSecrets(row),
            }
          : {}),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    notify("operations");
    return { ok: true, operation: await publishOperation(context, changed) };
  },

  /** Restarts a failed operation, or lets one that needs attention continue with the step or undo that failed. */
  async "operations.retry"(context: TransactionContext, { id }: { id: string }): Promise<RetryOutcome> {
    const { db, notify } = context;
    const row = await rowOf(context, id);
    if (row === undefined) {
      return { ok: false, why: "missing", detail: "" };
    }
    if (row.state !== "failed" && row.state !== "needsAttention") {
      return { ok: false, why: "state", detail: row.state };
    }
    if (row.secrets_sealed?.length === 0) {
      return { ok: false, why: "secretsGone", detail: row.state };
    }
    const other = await attachedTo(context, row);
    if (other !== undefined) {
      return { ok: false, why: "attached", detail: other.id };
    }
    if (row.state === "failed") {
      await db
        .updateTable("operation_steps")
        .set({ state: "pending", output_json: null, error: null, started_at: null, ended_at: null })
        .where("operation_id", "=", id)
        .execute();
    } else {
      await db
        .updateTable("operation_steps")
        .set({ state: "undoing" })
        .where("operation_id", "=", id)
        .where("state", "=", "undoFailed")
        .execute();
    }
    const isUndone = row.state === "needsAttention" && (await stepStatesOf(context, id)).has("undoing");
    const changed = await db
      .updateTable("operations")
      .set({
        state: "scheduled",
        message: "",
        attention_json: null,
        // An undo that continues keeps its original outcome.
        error_json: isUndone && row.cancel_requested === 0 ? row.error_json : null,
        cancel_requested: isUndone ? row.cancel_requested : 0,
        progress_ppm: row.state === "failed" ? null : row.progress_ppm,
        ended_at: null,
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    notify("operations");
    return { ok: true, operation: await publishOperation(context, changed) };
  },
};

/** Ends an operation that no gateway can run or undo. It can be retried once its domain is configured again. */
async function endStranded(context: TransactionContext, row: OperationRow): Promise<Operation> {
  const steps = await stepsOf(context, row.id);
  const left = steps.filter(({ state }) => state !== "pending" && state !== "undone");
  const attention: Attention = {
    left: left.map(
      ({ name, state }) => `Step ${name} is ${leftWords[state] ?? state}; what it created may still exist.`,
    ),
    advice: [
      `Configure the domain of ${row.kind} again and retry the operation: it continues with the first step that is not done.`,
      "Or remove what is left yourself, and cancel the operation again to abandon it.",
    ],
  };
  const changed = await context.db
    .updateTable("operations")
    .set({
      state: "needsAttention",
      message: `cancelled, but no gateway supports the operation kind ${row.kind}, so nothing was undone`,
      waiting_for: "",
      attention_json: JSON.stringify(attention),
      ended_at: context.nowMs,
    })
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  context.notify("operations");
  return publishOperation(context, changed);
}

const leftWords: Readonly<Record<string, string>> = {
  running: "interrupted",
  undoing: "partly undone",
  undoFailed: "partly undone",
};

/** Ends an operation that needs attention: the user who cancels it takes responsibility for what is left. */
async function giveUp(context: TransactionContext, row: OperationRow): Promise<Operation> {
  const changed = await context.db
    .updateTable("operations")
    .set({ state: "cancelled", cancel_requested: 1, ended_at: context.nowMs, ...withoutSecrets(row) })
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return publishOperation(context, changed);
}

/** Returns the states of the steps that have begun and are not undone. */
async function stepStatesOf({ db }: TransactionContext, id: string): Promise<ReadonlySet<string>> {
  const steps = await db
    .selectFrom("operation_steps")
    .select("state")
    .where("operation_id", "=", id)
    .where("state", "not in", ["pending", "undone"])
    .execute();
  return new Set(steps.map(({ state }) => state));
}

/** Finds the open operation that would answer a repeat of the request of `row`. */
async function attachedTo(
  { db }: TransactionContext,
  { attach_key }: OperationRow,
): Promise<{ id: string } | undefined> {
  return attach_key === null
    ? undefined
    : db
        .selectFrom("operations")
        .select("id")
        .where("attach_key", "=", attach_key)
        .where("ended_at", "is", null)
        .executeTakeFirst();
}
