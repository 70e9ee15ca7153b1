import type { TransactionContext } from "../../store/transaction.ts";
import { appendEvents, type NewEvent } from "./events.ts";

/** Last published state of a system. */
export interface ObservedState {
  /** Incremented by every stored state. */
  readonly version: number;
  /** Plain data; its shape depends on the observer. */
  readonly state: unknown;
  /** When the state was last confirmed, by the database's clock. */
  readonly observedAtMs: number;
}

/** States of systems as their observers last published them. */
export const observedStateTransactions = {
  /** Returns the last published state of a source; undefined when there is none. */
  async "observed.read"(context: TransactionContext, { source }: { source: string }) {
    return { observed: await readObserved(context, source), nowMs: context.nowMs };
  },

  /**
   * Stores the new state of a source, with the events that describe the change. Writes nothing if `version`, the version that
   * the events were computed against, is no longer the stored one; version 0: none was stored.
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

  /** Records that the published state of a source is still current. */
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

/** Stores a state in place of any other, for a source that publishes no events. */
export async function putObserved(
  { db, nowMs }: TransactionContext,
  source: string,
  state: unknown,
): Promise<void> {
  const row = { version: 1, state_json: JSON.stringify(state), observed_at: nowMs };
  await db
    .insertInto("observed_states")
    .values({ source, ...row })
    .onConflict((conflict) => conflict.column("source").doUpdateSet(row))
    .execute();
}

/** Deletes the state of a source. */
export async function forgetObserved({ db }: TransactionContext, source: string): Promise<void> {
  await db.deleteFrom("observed_states").where("source", "=", source).execute();
}

/** Returns the state of a source; undefined when there is none. */
export async function readObserved(
  { db }: TransactionContext,
  source: string,
): Promise<ObservedState | undefined> {
  const row = await db
    .selectFrom("observed_states")
    .selectAll()
    .where("source", "=", source)
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : { version: row.version, state: JSON.parse(row.state_json), observedAtMs: row.observed_at };
}
