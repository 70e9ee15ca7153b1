import { appendEvents } from "../../../events/store/events.ts";
import type { TransactionContext } from "../../../store/transaction.ts";
import { planEvents } from "./plan-event.ts";
import {
  missingApprovals,
  type PlanRecord,
  personOf,
  type SavedPlanRow,
  selectCurrentPlans,
  withApprovals,
} from "./plan-record.ts";

/** Outcome of applying a plan. */
export type PlanEnd =
  /** Nothing was changed, and it can be applied again. */
  | { readonly state: "open" }
  | { readonly state: "applied"; readonly operationId: string | undefined }
  | { readonly state: "stale"; readonly because: string };

/** An approval to record. */
export interface NewApproval {
  readonly id: string;
  readonly account: string;
  readonly actor: string;
  /** Undefined: an approval; otherwise why the glass is broken. */
  readonly breakGlassReason: string | undefined;
}

/** Transactions that apply and approve saved plans. */
export const planUseTransactions = {
  /** Returns a plan, even if it has expired: an operation may be applying it. */
  async "plans.row"({ db }: TransactionContext, { id }: { id: string }): Promise<SavedPlanRow | undefined> {
    return db.selectFrom("saved_plans").selectAll().where("id", "=", id).executeTakeFirst();
  },

  /**
   * Begins to apply a plan if it is open and has enough approvals. Returns it in its previous state; undefined if there is no such
   * plan of the owner.
   * @param args.requiredApprovals what the rules require now; a plan that needs fewer gets this number
   */
  async "plans.begin"(
    context: TransactionContext,
    args: { id: string; owner: string; requiredApprovals: number },
  ): Promise<PlanRecord | undefined> {
    const { db } = context;
    const { id, owner, requiredApprovals } = args;
    const row = await selectCurrentPlans(context)
      .where(({ and }) => and({ id, owner }))
      .executeTakeFirst();
    if (row === undefined) {
      return undefined;
    }
    const [record] = await withApprovals(context, [
      { ...row, required_approvals: Math.max(row.required_approvals, requiredApprovals) },
    ]);
    if (record?.state !== "open") {
      return record;
    }
    const state = missingApprovals(record) === 0 ? "applying" : "open";
    const { required_approvals } = record;
    await db.updateTable("saved_plans").set({ state, required_approvals }).where("id", "=", id).execute();
    if (row.required_approvals === 0) {
      await appendEvents(context, planEvents("proposed", record));
    }
    return record;
  },

  /** Records the outcome of applying a plan. Returns the plan; undefined if it was deleted meanwhile. */
  async "plans.end"(
    context: TransactionContext,
    { id, end }: { id: string; end: PlanEnd },
  ): Promise<PlanRecord | undefined> {
    return endPlan(context, id, "applying", end);
  },

  /** Makes an open plan stale. Returns the plan; undefined if it is no longer open. */
  async "plans.outdate"(
    context: TransactionContext,
    { id, because }: { id: string; because: string },
  ): Promise<PlanRecord | undefined> {
    return endPlan(context, id, "open", { state: "stale", because });
  },

  /**
   * Records an approval, or that the glass is broken, if the plan is open. A second approval of the same person does not count.
   * Returns the plan; undefined if there is none.
   */
  async "plans.approve"(
    context: TransactionContext,
    { id, account, actor, breakGlassReason }: NewApproval,
  ): Promise<PlanRecord | undefined> {
    const { db, nowMs } = context;
    const row = await selectCurrentPlans(context).where("id", "=", id).executeTakeFirst();
    if (row === undefined || row.state !== "open") {
      return row && (await withApprovals(context, [row]))[0];
    }
    const added = await db
      .insertInto("plan_approvals")
      .values({
        plan_id: id,
        account,
        person: personOf(actor),
        actor,
        break_glass_reason: breakGlassReason ?? null,
        at: nowMs,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning("seq")
      .executeTakeFirst();
    const [record] = await withApprovals(context, [row]);
    if (record !== undefined && added !== undefined) {
      const isBroken = breakGlassReason !== undefined;
      const detail = { approvedBy: actor, ...(isBroken ? { reason: breakGlassReason } : {}) };
      await appendEvents(context, planEvents(isBroken ? "glassBroken" : "approved", record, detail));
    }
    return record;
  },
};

async function endPlan(
  context: TransactionContext,
  id: string,
  from: "open" | "applying",
  end: PlanEnd,
): Promise<PlanRecord | undefined> {
  const row = await context.db
    .updateTable("saved_plans")
    .set({
      state: end.state,
      ...(end.state === "stale" ? { stale_because: end.because } : {}),
      ...(end.state === "applied" ? { operation_id: end.operationId ?? null } : {}),
    })
    .where("id", "=", id)
    .where("state", "=", from)
    .returningAll()
    .executeTakeFirst();
  const [record] = await withApprovals(context, row === undefined ? [] : [row]);
  if (record !== undefined && end.state !== "open") {
    const detail = end.state === "stale" ? { reason: end.because } : {};
    await appendEvents(context, planEvents(end.state, record, detail));
  }
  return record;
}
