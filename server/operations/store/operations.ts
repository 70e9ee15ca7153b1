import type { TransactionContext } from "../../store/transaction.ts";
import type { Operation } from "../operation.ts";
import { insertSteps } from "./claims.ts";
import { type ListQueryOptions, listQuery } from "./list-query.ts";
import { operationOf, operationsFromRows, publishOperation, rowOf } from "./rows.ts";
import type { OperationsTable } from "./tables.ts";

/** The fields of an operation that its request determines. */
export type NewOperation = Pick<
  OperationsTable,
  | "id"
  | "kind"
  | "resource"
  | "backend"
  | "system"
  | "host"
  | "rpc"
  | "actor"
  | "account_id"
  | "attach_key"
  | "input_json"
  | "secrets_sealed"
> &
  Partial<Pick<OperationsTable, "plan_id" | "plan_json">>;

/** Arguments of `operations.start`. */
interface StartArgs {
  readonly newOperation: NewOperation;
  readonly steps: readonly string[];
  /** Whether the first step's change already exists and would have to be undone. */
  readonly isFirstStepDone?: boolean;
  /** Whether the operation cannot be cancelled, from the start. */
  readonly isPastReturn?: boolean;
  readonly maxOpen: number;
}

/** Reads and creation of operations. Gateways that run them use `claims.ts` and `steps.ts`. */
export const operationRecordTransactions = {
  /** Creates an operation, or finds the open one with its `attach_key`. */
  async "operations.start"(
    context: TransactionContext,
    { newOperation, steps, isFirstStepDone = false, isPastReturn = false, maxOpen }: StartArgs,
  ) {
    const { db, nowMs, notify } = context;
    if (newOperation.attach_key !== null) {
      const running = await db
        .selectFrom("operations")
        .selectAll()
        .where("attach_key", "=", newOperation.attach_key)
        .where("ended_at", "is", null)
        .executeTakeFirst();
      if (running !== undefined) {
        return { ok: true as const, isNew: false, operation: await operationOf(context, running) };
      }
    }
    const { inAll, ofRequester } = await countOpen(context, newOperation);
    if (inAll >= maxOpen) {
      return { ok: false as const, of: "all" as const, open: inAll };
    }
    if (ofRequester >= maxOpenOfOne(maxOpen)) {
      return { ok: false as const, of: "requester" as const, open: ofRequester };
    }
    const row = await db
      .insertInto("operations")
      .values({
        ...newOperation,
        state: "scheduled",
        message: "",
        waiting_for: "",
        attempt: 0,
        cancel_requested: 0,
        past_return: isPastReturn ? 1 : 0,
        fence: 0,
        lease_until: 0,
        not_before: 0,
        created_at: nowMs,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await insertSteps(context, newOperation.id, steps, 0);
    if (isFirstStepDone) {
      await db
        .updateTable("operation_steps")
        .set({ state: "running" })
        .where("operation_id", "=", newOperation.id)
        .where("position", "=", 0)
        .execute();
    }
    notify("operations");
    return { ok: true as const, isNew: true, operation: await publishOperation(context, row) };
  },

  async "operations.get"(
    context: TransactionContext,
    { id }: { id: string },
  ): Promise<{ operation: Operation; seq: number } | undefined> {
    const row = await rowOf(context, id);
    if (row === undefined) {
      return undefined;
    }
    const { newest } = await context.db
      .selectFrom("events")
      .select(({ fn }) => fn.max("seq").as("newest"))
      .executeTakeFirstOrThrow();
    const gone = await context.db
      .selectFrom("meta")
      .select("value")
      .where("name", "=", "events_gone_seq")
      .executeTakeFirst();
    return {
      operation: await operationOf(context, row),
      seq: Math.max(Number(newest ?? 0), Number(gone?.value ?? 0)),
    };
  },

  /** Returns the operations that have ended or are no longer stored. */
  async "operations.endedOf"(
    context: TransactionContext,
    { ids }: { ids: readonly string[] },
  ): Promise<{ id: string; operation: Operation | undefined }[]> {
    const found = await context.db.selectFrom("operations").selectAll().where("id", "in", ids).execute();
    const ended = await operationsFromRows(
      context,
      found.filter(({ ended_at }) => ended_at !== null),
    );
    const missing = ids.filter((id) => !found.some((row) => row.id === id));
    return [
      ...ended.map((operation) => ({ id: operation.id, operation })),
      ...missing.map((id) => ({ id, operation: undefined })),
    ];
  },

  /** Lists operations, newest first, starting below `belowSeq`; `nextSeq` is where the next page begins. */
  async "operations.list"(context: TransactionContext, { filters, belowSeq, limit }: ListQueryOptions) {
    const rows = await listQuery(context, { filters, belowSeq, limit: limit + 1 }).execute();
    const page = rows.slice(0, limit);
    const operations = await operationsFromRows(context, page);
    return { operations, nextSeq: rows.length > limit ? page.at(-1)?.seq : undefined };
  },

  /** Counts the operations that have not ended or need attention, by state. */
  async "operations.counts"({ db }: TransactionContext) {
    const rows = await db
      .selectFrom("operations")
      .select(({ fn }) => ["state", fn.countAll<number>().as("count")])
      .where(({ or, eb }) => or([eb("ended_at", "is", null), eb("state", "=", "needsAttention")]))
      .groupBy("state")
      .execute();
    const countOf = (state: string) => Number(rows.find((row) => row.state === state)?.count ?? 0);
    return {
      scheduled: countOf("scheduled"),
      active: countOf("active"),
      undoing: countOf("undoing"),
      needsAttention: countOf("needsAttention"),
    };
  },

  /** Reads commands of an operation, oldest first; undefined when there is no such operation. */
  async "operations.commands"(
    context: TransactionContext,
    { id, aboveSeq, limit }: { id: string; aboveSeq: number; limit: number },
  ) {
    if ((await rowOf(context, id)) === undefined) {
      return undefined;
    }
    return context.db
      .selectFrom("operation_commands")
      .selectAll()
      .where("operation_id", "=", id)
      .where("seq", ">", aboveSeq)
      .orderBy("seq")
      .limit(limit)
      .execute();
  },

  /** Returns the operation, other than `except`, that works on a resource of a host, or waits for it; undefined: there is none. */
  async "operations.openOf"(
    { db }: TransactionContext,
    { resource, host, except = "" }: { resource: string; host: string; except?: string | undefined },
  ) {
    return db
      .selectFrom("operations")
      .select(["id", "kind"])
      .where("resource", "=", resource)
      .where("id", "!=", except)
      .where(({ or, eb }) => or([eb("host", "is", null), eb("host", "=", host)]))
      .where("ended_at", "is", null)
      .orderBy("seq")
      .executeTakeFirst();
  },
};

/** Limits one caller to half of the total, so that the other half is left to others. */
function maxOpenOfOne(maxOpen: number): number {
  return Math.max(1, Math.floor(maxOpen / 2));
}

/** Counts open operations in total and of this caller; a caller without an account is identified by its actor name. */
async function countOpen({ db }: TransactionContext, { account_id, actor }: NewOperation) {
  const { inAll, ofRequester } = await db
    .selectFrom("operations")
    .select(({ fn, eb }) => [
      fn.countAll<number>().as("inAll"),
      fn
        .countAll<number>()
        .filterWhere(({ and }) =>
          and(
            account_id === ""
              ? [eb("account_id", "=", ""), eb("actor", "=", actor)]
              : [eb("account_id", "=", account_id)],
          ),
        )
        .as("ofRequester"),
    ])
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  return { inAll: Number(inAll), ofRequester: Number(ofRequester) };
}
