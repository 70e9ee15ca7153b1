import { appendEvents, type NewEvent } from "./events.ts";
import type { TransactionContext } from "./transaction.ts";

/** What was last told of a system. */
export interface ObservedState {
  /** Grows by one with every state that is kept. */
  readonly version: number;
  /** Plain data; what it holds, the observer says. */
  readonly state: unknown;
  /** When it was last found to be so, by the database's clock. */
  readonly observedAtMs: number;
}

/** Systems as their observers have last told them. */
export const observedStateTransactions = {
  /** What was last told of the source; undefined when it never was. */
  async "observed.read"(context: TransactionContext, { source }: { source: string }) {
    return { observed: await readObserved(context, source), nowMs: context.nowMs };
  },

  /**
   * Keeps what a source has become, with the events that tell how. Nothing is written when the state with the version, which
   * the events are the differences to, is no longer the one that is kept; version 0: none was.
   */
  async "observed.write"(
    context: TransactionContext,
    args: { source: string; version: number; state: unknown; events: readonly NewEvent[] },
  ): Promise<
    | { readonly ok: true; readonly version: number; readonly nowMs: number }
    | { readonly ok: false; readonly current: ObservedState | undefined; readonly nowMs: number }
  > {
    const { db, nowMs } = context;
    const { source } = args;
    const current = await readObserved(context, source);
    if ((current?.version ?? 0) !== args.version) {
      return { ok: false, current, nowMs };
    }
    const version = args.version + 1;
    const row = { version, state_json: JSON.stringify(args.state), observed_at: nowMs };
    await db
      .insertInto("observed_states")
      .values({ source, ...row })
      .onConflict((conflict) => conflict.column("source").doUpdateSet(row))
      .execute();
    await appendEvents(context, args.events);
    return { ok: true, version, nowMs };
  },

  /** Notes that the source is still as it was last told. */
  async "observed.confirm"(
    { db, nowMs }: TransactionContext,
    { source, version }: { source: string; version: number },
  ) {
    await db
      .updateTable("observed_states")
      .set({ observed_at: nowMs })
      .where("source", "=", source)
      .where("version", "=", version)
      .execute();
  },
};

async function readObserved({ db }: TransactionContext, source: string): Promise<ObservedState | undefined> {
  const row = await db
    .selectFrom("observed_states")
    .selectAll()
    .where("source", "=", source)
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : { version: row.version, state: JSON.parse(row.state_json), observedAtMs: row.observed_at };
}
