import type { TransactionContext } from "../../store/transaction.ts";
import { type OperationRow, publishOperation } from "./rows.ts";
import type { OperationCommandsTable, OperationStepsTable } from "./tables.ts";

/** A command that a step has run, as it is stored. */
export interface NewCommand
  extends Pick<
    OperationCommandsTable,
    "step" | "argv_json" | "exit_code" | "signal" | "duration_ms" | "host"
  > {
  /** Age of its start, because only the store's clock counts. */
  readonly startedMsAgo: number;
}

/**
 * Identifies a claim on an operation. Writes are refused unless the operation still has this owner and fence, so that a
 * gateway that was suspended and replaced can do no harm.
 */
export interface Fenced {
  readonly id: string;
  readonly owner: string;
  readonly fence: number;
  /** Commands that were run since the last write. */
  readonly commands: readonly NewCommand[];
}

export type Written = { readonly ok: true } | { readonly ok: false; readonly why: "lost" | "cancelled" };

export const written = { ok: true } as const;
export const lost = { ok: false, why: "lost" } as const;

/** Maximum number of stored commands per operation. */
const maxCommands = 1000;

export type OperationChange = Partial<Omit<OperationRow, "seq" | "id">>;
type StepChange = Partial<Omit<OperationStepsTable, "operation_id" | "position" | "name">>;

/** Returns the operation if the claim is still valid. */
export function held(
  { db }: TransactionContext,
  { id, owner, fence }: Fenced,
): Promise<OperationRow | undefined> {
  return db
    .selectFrom("operations")
    .selectAll()
    .where("id", "=", id)
    .where("owner", "=", owner)
    .where("fence", "=", fence)
    .executeTakeFirst();
}

/** Changes a step, and sets when it started if that is not set yet. */
export async function changeStep(
  { db, nowMs }: TransactionContext,
  id: string,
  name: string,
  set: StepChange,
): Promise<void> {
  await db
    .updateTable("operation_steps")
    .set(({ fn, val }) => ({ ...set, started_at: fn.coalesce("started_at", val(nowMs)) }))
    .where("operation_id", "=", id)
    .where("name", "=", name)
    .execute();
}

/** Changes a claimed operation and appends an event. */
export async function change(
  context: TransactionContext,
  fenced: Fenced,
  set: OperationChange,
): Promise<Written> {
  await publishOperation(context, await changeWithoutEvent(context, fenced, set));
  return written;
}

/** Changes a claimed operation without an event; the change shows when the operation is read. */
export async function changeWithoutEvent(
  context: TransactionContext,
  { id, commands }: Fenced,
  set: OperationChange,
): Promise<OperationRow> {
  await addCommands(context, { id, commands });
  return context.db
    .updateTable("operations")
    .set({ ...set, waiting_for: "" })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Ends a claimed operation. Its resource and its running slot are free now, so it notifies the gateways that claim. */
export async function end(context: TransactionContext, args: Fenced, set: OperationChange): Promise<Written> {
  await change(context, args, {
    ...set,
    owner: null,
    lease_until: 0,
    ended_at: context.nowMs,
    step: null,
    done_bytes: null,
    total_bytes: null,
  });
  context.notify("operations");
  return written;
}

/** Adds commands to an operation; those beyond the maximum are dropped. */
export async function addCommands(
  { db, nowMs }: TransactionContext,
  { id, commands }: Pick<Fenced, "id" | "commands">,
): Promise<void> {
  if (commands.length === 0) {
    return;
  }
  const { count } = await db
    .selectFrom("operation_commands")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("operation_id", "=", id)
    .executeTakeFirstOrThrow();
  const kept = commands.slice(0, Math.max(0, maxCommands - Number(count)));
  if (kept.length > 0) {
    await db
      .insertInto("operation_commands")
      .values(
        kept.map(({ startedMsAgo, ...command }) => ({
          ...command,
          operation_id: id,
          at: nowMs - startedMsAgo,
        })),
      )
      .execute();
  }
}
