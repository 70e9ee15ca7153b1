import type { Selectable } from "kysely";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { PlanApprovalsTable, SavedPlansTable } from "./tables.ts";

export type SavedPlanRow = Selectable<SavedPlansTable>;

export type PlanApprovalRow = Selectable<PlanApprovalsTable>;

/** A saved plan with its approvals, in the order in which they were given. */
export interface PlanRecord extends SavedPlanRow {
  readonly approvals: readonly PlanApprovalRow[];
}

/** Selects the plans that have not expired. */
export function selectCurrentPlans({ db, nowMs }: Pick<TransactionContext, "db" | "nowMs">) {
  return db.selectFrom("saved_plans").selectAll().where("expires_at", ">", nowMs);
}

/** Adds the approvals to rows of plans. */
export async function withApprovals(
  { db }: Pick<TransactionContext, "db">,
  rows: readonly SavedPlanRow[],
): Promise<readonly PlanRecord[]> {
  const ids = rows.filter((row) => row.required_approvals > 0).map(({ id }) => id);
  const approvals =
    ids.length === 0
      ? []
      : await db
          .selectFrom("plan_approvals")
          .selectAll()
          .where("plan_id", "in", ids)
          .orderBy("seq")
          .execute();
  return rows.map((row) => ({ ...row, approvals: approvals.filter(({ plan_id }) => plan_id === row.id) }));
}

/** Returns how many approvals a plan still needs: none once the glass is broken. */
export function missingApprovals({
  required_approvals,
  approvals,
}: Pick<PlanRecord, "required_approvals" | "approvals">): number {
  const isGlassBroken = approvals.some(({ break_glass_reason }) => break_glass_reason !== null);
  return isGlassBroken ? 0 : Math.max(required_approvals - approvals.length, 0);
}

/** Returns the name of a caller without the hub through which it came: an account of the fleet has the same name on each host. */
export function personOf(actor: string): string {
  return actor.replace(/ via .*$/, "");
}
