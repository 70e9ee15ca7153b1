import type { TransactionContext } from "../../store/transaction.ts";
import { readFacts } from "./events.ts";

/** The removal of old events. */
export const eventPurgeTransactions = {
  /**
   * Removes up to `limit` of the oldest events that are older than `keepMs`, and returns their number. Events that are more
   * than `keepMs` in the future were written while a clock was wrong; they are removed too, because they would block the purge
   * until then.
   */
  async "events.purge"(context: TransactionContext, { keepMs, limit }: { keepMs: number; limit: number }) {
    const { db, nowMs } = context;
    const oldest = await db.selectFrom("events").select(["seq", "at"]).orderBy("seq").limit(limit).execute();
    const kept = oldest.findIndex(({ at }) => at >= nowMs - keepMs && at <= nowMs + keepMs);
    const expired = kept === -1 ? oldest : oldest.slice(0, kept);
    const last = expired.at(-1);
    if (last === undefined) {
      return { count: 0 };
    }
    await db.deleteFrom("events").where("seq", "<=", last.seq).execute();
    const { goneAtMs = 0 } = await readFacts(context);
    await writeFact(context, "events_gone_seq", last.seq);
    const times = expired.map(({ at }) => at).filter((at) => at <= nowMs);
    await writeFact(context, "events_gone_at", Math.max(goneAtMs, ...times));
    return { count: expired.length };
  },
};

async function writeFact({ db }: TransactionContext, name: string, number: number): Promise<void> {
  const value = String(number);
  await db
    .insertInto("meta")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}
