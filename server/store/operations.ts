import { sql } from "kysely";
import type { Operation } from "../operations/operation.ts";
import type { OperationFilters } from "../operations/operation-filters.ts";
import { insertSteps } from "./operation-claims.ts";
import { operationOf, operationsFromRows, rowOf, tellOperation } from "./operation-row.ts";
import type { OperationsTable } from "./schema.ts";
import type { TransactionContext } from "./transaction.ts";

/** What is known of an operation when it is asked for. */
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
>;

/** What anybody asks of operations; who runs them uses `operation-claims.ts` and `operation-steps.ts`. */
/** An operation to keep. */
interface StartArgs {
  readonly wanted: NewOperation;
  readonly steps: readonly string[];
  /** Whether what the first step is to undo is made already. */
  readonly isMade?: boolean;
  /** Whether it can be cancelled no more from the start. */
  readonly isPastReturn?: boolean;
  readonly maxOpen: number;
}

export const operationTransactions = {
  /** Keeps a new operation, or finds the open one with its `attach_key`. */
  async "operations.start"(
    context: TransactionContext,
    { wanted, steps, isMade = false, isPastReturn = false, maxOpen }: StartArgs,
  ) {
    const { db, nowMs, notify } = context;
    if (wanted.attach_key !== null) {
      const running = await db
        .selectFrom("operations")
        .selectAll()
        .where("attach_key", "=", wanted.attach_key)
        .where("ended_at", "is", null)
        .executeTakeFirst();
      if (running !== undefined) {
        return { ok: true as const, isNew: false, operation: await operationOf(context, running) };
      }
    }
    const { inAll, ofAsker } = await countOpen(context, wanted);
    if (inAll >= maxOpen) {
      return { ok: false as const, of: "all" as const, open: inAll };
    }
    if (ofAsker >= maxOpenOfOne(maxOpen)) {
      return { ok: false as const, of: "asker" as const, open: ofAsker };
    }
    const row = await db
      .insertInto("operations")
      .values({
        ...wanted,
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
    await insertSteps(context, wanted.id, steps, 0);
    if (isMade) {
      await db
        .updateTable("operation_steps")
        .set({ state: "running" })
        .where("operation_id", "=", wanted.id)
        .where("position", "=", 0)
        .execute();
    }
    notify("operations");
    return { ok: true as const, isNew: true, operation: await tellOperation(context, row) };
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

  /** Those of the ids that have ended or are not kept. */
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

  /** Newest first, below a number; `nextSeq` is where the next page begins. */
  async "operations.list"(
    context: TransactionContext,
    { filters, belowSeq, limit }: { filters: OperationFilters; belowSeq: number | undefined; limit: number },
  ) {
    let query = context.db
      .selectFrom("operations")
      .selectAll()
      .orderBy("seq", "desc")
      .limit(limit + 1);
    const { states, kind, resource, actor, fromMs, toMs, services } = filters;
    if (belowSeq !== undefined) {
      query = query.where("seq", "<", belowSeq);
    }
    if (states !== undefined) {
      query = query.where("state", "in", states);
    }
    if (kind !== undefined) {
      query = query.where(sql<boolean>`(kind = ${kind} or ${isBelow("kind", kind, ".")})`);
    }
    if (resource !== undefined) {
      query = query.where(sql<boolean>`(resource = ${resource} or ${isBelow("resource", resource, "/")})`);
    }
    if (actor !== undefined) {
      query = query.where("actor", "=", actor);
    }
    if (fromMs !== undefined) {
      query = query.where("created_at", ">=", fromMs);
    }
    if (toMs !== undefined) {
      query = query.where("created_at", "<", toMs);
    }
    if (services !== undefined) {
      query = query.where(({ or }) => or(services.map((service) => isBelow("rpc", service, "/"))));
    }
    const rows = await query.execute();
    const page = rows.slice(0, limit);
    const operations = await operationsFromRows(context, page);
    return { operations, nextSeq: rows.length > limit ? page.at(-1)?.seq : undefined };
  },

  /** How many have not ended, or need attention, by their states. */
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

  /** Commands of an operation, oldest first; undefined when there is no such operation. */
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

  /** The operation that works on a resource of a host, or waits for it; undefined: there is none. */
  async "operations.openOf"(
    { db }: TransactionContext,
    { resource, host }: { resource: string; host: string },
  ) {
    return db
      .selectFrom("operations")
      .select(["id", "kind"])
      .where("resource", "=", resource)
      .where(({ or, eb }) => or([eb("host", "is", null), eb("host", "=", host)]))
      .where("ended_at", "is", null)
      .orderBy("seq")
      .executeTakeFirst();
  },
};

/** One caller leaves as many to the others. */
function maxOpenOfOne(maxOpen: number): number {
  return Math.max(1, Math.floor(maxOpen / 2));
}

/** How many have not ended; who has no account is told apart by its name. */
async function countOpen({ db }: TransactionContext, { account_id, actor }: NewOperation) {
  const { inAll, ofAsker } = await db
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
        .as("ofAsker"),
    ])
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  return { inAll: Number(inAll), ofAsker: Number(ofAsker) };
}

/** Texts are compared byte by byte on either database, so that all that begin with a prefix stand together. */
function isBelow(column: "kind" | "resource" | "rpc", parent: string, separator: "." | "/") {
  const next = separator === "." ? "/" : "0";
  return sql<boolean>`(${sql.ref(column)} >= ${parent + separator} and ${sql.ref(column)} < ${parent + next})`;
}
