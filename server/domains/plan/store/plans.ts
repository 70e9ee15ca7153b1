import type { ExpressionBuilder } from "kysely";
import { appendEvents } from "../../../events/store/events.ts";
import type { Schema } from "../../../store/schema.ts";
import type { TransactionContext } from "../../../store/transaction.ts";
import { planEvents } from "./plan-event.ts";
import { type PlanRecord, type SavedPlanRow, selectCurrentPlans, withApprovals } from "./plan-record.ts";

/** A plan to save. */
export type NewPlanRow = Omit<
  SavedPlanRow,
  "seq" | "state" | "stale_because" | "operation_id" | "created_at" | "expires_at"
>;

/** Limits of the number of plans. */
export interface PlanLimits {
  /** Open plans of one owner. */
  readonly openOfOwner: number;
  /** Plans of one owner, used ones included. */
  readonly ofOwner: number;
  readonly inAll: number;
}

/** Result of saving a plan. */
export type SavePlanOutcome =
  | { readonly ok: true; readonly record: PlanRecord }
  /** The limit that is reached. */
  | { readonly ok: false; readonly of: keyof PlanLimits };

/** Whose plans a caller sees. */
export interface PlanView {
  readonly owner: string;
  /** Methods whose plans it also sees if they need approvals. */
  readonly methods: readonly string[];
}

/** Plans as records. An expired plan no longer exists. */
export const planRecordTransactions = {
  /** Saves a plan. @param args.reuses returns the owner's open plan with the same digest instead, if there is one */
  async "plans.create"(
    context: TransactionContext,
    args: { plan: NewPlanRow; keepMs: number; limits: PlanLimits; reuses: boolean },
  ): Promise<SavePlanOutcome> {
    const { db, nowMs } = context;
    const { plan, keepMs, limits, reuses } = args;
    const { owner, digest, lvmd } = plan;
    const known = selectCurrentPlans(context)
      .where(({ and }) => and({ owner, digest, lvmd, state: "open" }))
      .orderBy("seq");
    const [record] = await withApprovals(context, reuses ? await known.limit(1).execute() : []);
    if (record !== undefined) {
      return { ok: true, record };
    }
    const { inAll, ofOwner, openOfOwner } = await db
      .selectFrom("saved_plans")
      .select(({ fn, and }) => [
        fn.countAll<number>().as("inAll"),
        fn.countAll<number>().filterWhere("owner", "=", plan.owner).as("ofOwner"),
        fn
          .countAll<number>()
          .filterWhere(and({ owner: plan.owner, state: "open" }))
          .as("openOfOwner"),
      ])
      .where("expires_at", ">", nowMs)
      .executeTakeFirstOrThrow();
    const counts = { openOfOwner, ofOwner, inAll };
    for (const name of ["openOfOwner", "ofOwner", "inAll"] as const) {
      if (Number(counts[name]) >= limits[name]) {
        return { ok: false, of: name };
      }
    }
    const row = await db
      .insertInto("saved_plans")
      .values({ ...plan, state: "open", created_at: nowMs, expires_at: nowMs + keepMs })
      .returningAll()
      .executeTakeFirstOrThrow();
    const saved = { ...row, approvals: [] };
    await appendEvents(context, planEvents("proposed", saved));
    return { ok: true, record: saved };
  },

  async "plans.get"(context: TransactionContext, { id }: { id: string }): Promise<PlanRecord | undefined> {
    const row = await selectCurrentPlans(context).where("id", "=", id).executeTakeFirst();
    return row && (await withApprovals(context, [row]))[0];
  },

  /** Lists plans, newest first. @param args.view undefined: all plans. @param args.waiting only open plans that lack approvals */
  async "plans.list"(
    context: TransactionContext,
    args: { view: PlanView | undefined; waiting: boolean; belowSeq: number | undefined; limit: number },
  ): Promise<readonly PlanRecord[]> {
    const { view, waiting, belowSeq, limit } = args;
    let query = selectCurrentPlans(context);
    if (view !== undefined) {
      query = query.where(({ and, or, eb }) =>
        or([
          eb("owner", "=", view.owner),
          ...(view.methods.length === 0
            ? []
            : [and([eb("required_approvals", ">", 0), eb("method", "in", view.methods)])]),
        ]),
      );
    }
    if (waiting) {
      query = query.where("state", "=", "open").where(lacksApprovals);
    }
    if (belowSeq !== undefined) {
      query = query.where("seq", "<", belowSeq);
    }
    return withApprovals(context, await query.orderBy("seq", "desc").limit(limit).execute());
  },

  /** Finds the open plans of a request, oldest first. */
  async "plans.ofRequest"(
    context: TransactionContext,
    { owner, digest, lvmd }: { owner: string; digest: string; lvmd: string },
  ): Promise<readonly PlanRecord[]> {
    const rows = await selectCurrentPlans(context)
      .where(({ and }) => and({ owner, request_digest: digest, lvmd, state: "open" }))
      .orderBy("seq")
      .execute();
    return withApprovals(context, rows);
  },

  /** @param args.owner undefined: a plan of any owner */
  async "plans.delete"(
    context: TransactionContext,
    { id, owner }: { id: string; owner: string | undefined },
  ): Promise<{ readonly ok: boolean }> {
    const { db, nowMs } = context;
    const row = await db
      .deleteFrom("saved_plans")
      .where("id", "=", id)
      .where("expires_at", ">", nowMs)
      .$if(owner !== undefined, (query) => query.where("owner", "=", owner ?? ""))
      .returningAll()
      .executeTakeFirst();
    const [record] = await withApprovals(context, row === undefined ? [] : [row]);
    if (record?.state === "open") {
      await appendEvents(context, planEvents("deleted", record));
    }
    await db
      .deleteFrom("plan_approvals")
      .where("plan_id", "=", record?.id ?? "")
      .execute();
    return { ok: record !== undefined };
  },

  /** Removes up to `limit` expired plans that no operation needs; returns their number. */
  async "plans.purge"({ db, nowMs }: TransactionContext, { limit }: { limit: number }) {
    const expired = await db
      .selectFrom("saved_plans")
      .select(["seq", "id"])
      .where("expires_at", "<=", nowMs)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("operations")
              .select("operations.id")
              .whereRef("operations.plan_id", "=", "saved_plans.id")
              .where("operations.ended_at", "is", null),
          ),
        ),
      )
      .limit(limit)
      .execute();
    if (expired.length > 0) {
      const seqs = expired.map(({ seq }) => seq);
      const ids = expired.map(({ id }) => id);
      await db.deleteFrom("saved_plans").where("seq", "in", seqs).execute();
      await db.deleteFrom("plan_approvals").where("plan_id", "in", ids).execute();
    }
    return { count: expired.length };
  },
};

/** Builds the condition that a plan lacks approvals, as `missingApprovals` has it. */
function lacksApprovals({ and, eb, not, exists, selectFrom }: ExpressionBuilder<Schema, "saved_plans">) {
  const given = selectFrom("plan_approvals").whereRef("plan_approvals.plan_id", "=", "saved_plans.id");
  return and([
    eb(
      "required_approvals",
      ">",
      given.select(({ fn }) => fn.countAll<number>().as("count")),
    ),
    not(exists(given.where("break_glass_reason", "is not", null).select("plan_approvals.seq"))),
  ]);
}
