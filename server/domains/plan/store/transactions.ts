import type { Selectable } from "kysely";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { SavedPlansTable } from "./tables.ts";

export type SavedPlanRow = Selectable<SavedPlansTable>;

/** A plan to save. */
export type NewPlanRow = Omit<SavedPlanRow, "seq" | "created_at" | "expires_at">;

/** Result of saving a plan. */
export type SavePlanOutcome =
  | { readonly ok: true; readonly row: SavedPlanRow }
  /** The limit that is reached, and the number of plans. */
  | { readonly ok: false; readonly of: "owner" | "all"; readonly count: number };

/** Saved plans. An expired plan no longer exists. */
export const planTransactions = {
  async "plans.create"(
    { db, nowMs }: TransactionContext,
    args: { plan: NewPlanRow; keepMs: number; maxOfOwner: number; maxInAll: number },
  ): Promise<SavePlanOutcome> {
    const { plan, keepMs, maxOfOwner, maxInAll } = args;
    const { inAll, ofOwner } = await db
      .selectFrom("saved_plans")
      .select(({ fn }) => [
        fn.countAll<number>().as("inAll"),
        fn.countAll<number>().filterWhere("owner", "=", plan.owner).as("ofOwner"),
      ])
      .where("expires_at", ">", nowMs)
      .executeTakeFirstOrThrow();
    if (Number(ofOwner) >= maxOfOwner) {
      return { ok: false, of: "owner", count: Number(ofOwner) };
    }
    if (Number(inAll) >= maxInAll) {
      return { ok: false, of: "all", count: Number(inAll) };
    }
    const row = await db
      .insertInto("saved_plans")
      .values({ ...plan, created_at: nowMs, expires_at: nowMs + keepMs })
      .returningAll()
      .executeTakeFirstOrThrow();
    return { ok: true, row };
  },

  async "plans.get"(
    { db, nowMs }: TransactionContext,
    { id }: { id: string },
  ): Promise<SavedPlanRow | undefined> {
    return db
      .selectFrom("saved_plans")
      .selectAll()
      .where("id", "=", id)
      .where("expires_at", ">", nowMs)
      .executeTakeFirst();
  },

  /** Lists plans, newest first. @param args.owner undefined: of all owners */
  async "plans.list"(
    { db, nowMs }: TransactionContext,
    args: { owner: string | undefined; belowSeq: number | undefined; limit: number },
  ): Promise<readonly SavedPlanRow[]> {
    const { owner, belowSeq, limit } = args;
    return db
      .selectFrom("saved_plans")
      .selectAll()
      .where("expires_at", ">", nowMs)
      .$if(owner !== undefined, (query) => query.where("owner", "=", owner ?? ""))
      .$if(belowSeq !== undefined, (query) => query.where("seq", "<", belowSeq ?? 0))
      .orderBy("seq", "desc")
      .limit(limit)
      .execute();
  },

  /** @param args.owner undefined: a plan of any owner */
  async "plans.delete"(
    { db, nowMs }: TransactionContext,
    { id, owner }: { id: string; owner: string | undefined },
  ): Promise<{ readonly ok: boolean }> {
    const { numDeletedRows } = await db
      .deleteFrom("saved_plans")
      .where("id", "=", id)
      .where("expires_at", ">", nowMs)
      .$if(owner !== undefined, (query) => query.where("owner", "=", owner ?? ""))
      .executeTakeFirst();
    return { ok: numDeletedRows > 0n };
  },

  /** Removes up to `limit` expired plans; returns their number. */
  async "plans.purge"({ db, nowMs }: TransactionContext, { limit }: { limit: number }) {
    const expired = await db
      .selectFrom("saved_plans")
      .select("seq")
      .where("expires_at", "<=", nowMs)
      .limit(limit)
      .execute();
    if (expired.length > 0) {
      const seqs = expired.map(({ seq }) => seq);
      await db.deleteFrom("saved_plans").where("seq", "in", seqs).execute();
    }
    return { count: expired.length };
  },
};

type PlanTransactions = typeof planTransactions;

declare module "../../../store/store.ts" {
  interface GatewayTransactions extends PlanTransactions {}
}
