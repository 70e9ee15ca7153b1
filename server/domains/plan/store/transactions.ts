import type { Selectable } from "kysely";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { SavedPlansTable } from "./tables.ts";

export type SavedPlanRow = Selectable<SavedPlansTable>;

/** A plan to save. */
export type NewPlanRow = Omit<
  SavedPlanRow,
  "seq" | "state" | "stale_because" | "operation_id" | "created_at" | "expires_at"
>;

/** What has become of a plan that was being applied. */
export type PlanEnd =
  /** Nothing was changed, and it can be applied again. */
  | { readonly state: "open" }
  | { readonly state: "applied"; readonly operationId: string | undefined }
  | { readonly state: "stale"; readonly because: string };

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
      .values({ ...plan, state: "open", created_at: nowMs, expires_at: nowMs + keepMs })
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

  /** Returns the plan that an operation applies, even if it has expired meanwhile. */
  async "plans.ofOperation"(
    { db }: TransactionContext,
    { id }: { id: string },
  ): Promise<SavedPlanRow | undefined> {
    return db.selectFrom("saved_plans").selectAll().where("id", "=", id).executeTakeFirst();
  },

  /** Begins to apply a plan if it is open. Returns its previous state; undefined if there is no such plan of the owner. */
  async "plans.begin"(
    { db, nowMs }: TransactionContext,
    { id, owner }: { id: string; owner: string },
  ): Promise<SavedPlanRow | undefined> {
    const row = await db
      .selectFrom("saved_plans")
      .selectAll()
      .where(({ and }) => and({ id, owner }))
      .where("expires_at", ">", nowMs)
      .executeTakeFirst();
    if (row?.state === "open") {
      await db.updateTable("saved_plans").set({ state: "applying" }).where("id", "=", id).execute();
    }
    return row;
  },

  /** Records what has become of a plan that was being applied. Returns the plan; undefined if it was deleted meanwhile. */
  async "plans.end"(
    { db }: TransactionContext,
    { id, end }: { id: string; end: PlanEnd },
  ): Promise<SavedPlanRow | undefined> {
    return db
      .updateTable("saved_plans")
      .set({
        state: end.state,
        ...(end.state === "stale" ? { stale_because: end.because } : {}),
        ...(end.state === "applied" ? { operation_id: end.operationId ?? null } : {}),
      })
      .where("id", "=", id)
      .returningAll()
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

  /** Removes up to `limit` expired plans that no operation needs; returns their number. */
  async "plans.purge"({ db, nowMs }: TransactionContext, { limit }: { limit: number }) {
    const expired = await db
      .selectFrom("saved_plans")
      .select("seq")
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
      await db.deleteFrom("saved_plans").where("seq", "in", seqs).execute();
    }
    return { count: expired.length };
  },
};

type PlanTransactions = typeof planTransactions;

declare module "../../../store/store.ts" {
  interface GatewayTransactions extends PlanTransactions {}
}
