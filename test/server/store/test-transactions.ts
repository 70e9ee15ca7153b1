import { sql } from "kysely";
import { nextAuthVersion } from "../../../server/domains/auth/store/auth-version.ts";
import type { Topic, TransactionContext } from "../../../server/store/transaction.ts";

/** Transactions for tests of the store, on rows of the table `meta`. */
export const transactions = {
  /** Reads a counter and writes it in another statement, as a careless domain would. */
  async "counter.add"({ db }: TransactionContext, { name, by }: { name: string; by: number }) {
    const row = await db.selectFrom("meta").select("value").where("name", "=", name).executeTakeFirst();
    const value = Number(row?.value ?? 0) + by;
    await db
      .insertInto("meta")
      .values({ name, value: String(value) })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: String(value) }))
      .execute();
    return value;
  },

  async "counter.read"({ db }: TransactionContext, { name }: { name: string }) {
    const row = await db.selectFrom("meta").select("value").where("name", "=", name).executeTakeFirst();
    return row === undefined ? undefined : Number(row.value);
  },

  /** Writes, and then throws. */
  async "counter.fail"({ db }: TransactionContext, { name }: { name: string }): Promise<void> {
    await db.insertInto("meta").values({ name, value: "1" }).execute();
    throw new TypeError(`the fault of ${name}`);
  },

  /** Writes a row twice with the same key. */
  async "counter.duplicate"({ db }: TransactionContext, { name }: { name: string }): Promise<void> {
    await db.insertInto("meta").values({ name, value: "secret value" }).execute();
    await db.insertInto("meta").values({ name, value: "secret value" }).execute();
  },

  /** Continues after a failed query, which PostgreSQL does not allow. */
  async "counter.carelessly"({ db }: TransactionContext, { name }: { name: string }): Promise<string> {
    await db.insertInto("meta").values({ name, value: "1" }).execute();
    await sql`select 1 from no_such_table`.execute(db).catch(() => undefined);
    return "done";
  },

  /** Writes only if it has read that there is nothing: of two concurrent calls, one must see the other. */
  async "claim.take"({ db }: TransactionContext, { prefix, name }: { prefix: string; name: string }) {
    const others = await db.selectFrom("meta").select("name").where("name", "like", `${prefix}%`).execute();
    if (others.length > 0) {
      return { ok: false as const, why: "taken" as const };
    }
    await db
      .insertInto("meta")
      .values({ name: `${prefix}${name}`, value: "1" })
      .execute();
    return { ok: true as const };
  },

  async "topic.notify"({ notify }: TransactionContext, { topics }: { topics: Topic[] }): Promise<void> {
    for (const topic of topics) {
      notify(topic);
    }
  },

  /** Notifies, and is not committed. */
  async "topic.fail"({ notify }: TransactionContext, { topic }: { topic: Topic }): Promise<void> {
    notify(topic);
    throw new Error("not committed");
  },

  "version.take": (context: TransactionContext) => nextAuthVersion(context),

  "clock.read": async ({ nowMs }: TransactionContext) => nowMs,

  /** Runs several queries at once. */
  async "values.echo"({ db }: TransactionContext, args: { text: string; bytes: Uint8Array; number: number }) {
    await db
      .insertInto("signing_keys")
      .values({ id: args.text, secret_sealed: args.bytes, created_at: args.number, version: 1 })
      .execute();
    const [row, sum, ids] = await Promise.all([
      db.selectFrom("signing_keys").selectAll().where("id", "=", args.text).executeTakeFirstOrThrow(),
      db
        .selectFrom("signing_keys")
        .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.sum<number>("version").as("sum")])
        .executeTakeFirstOrThrow(),
      db.selectFrom("signing_keys").select("id").orderBy("id").execute(),
    ]);
    return { ...row, ...sum, ids: ids.map(({ id }) => id) };
  },

  async "space.fill"({ db }: TransactionContext, { name, bytes }: { name: string; bytes: number }) {
    const value = "x".repeat(bytes);
    await db.insertInto("meta").values({ name, value }).execute();
  },

  /** Adds audit events and removes the newest; returns the last number that was assigned. */
  async "audit.fill"({ db }: TransactionContext, args: { count: number; removeLast: number }) {
    const event = {
      at: 1,
      actor: "a",
      account_id: "a",
      credential: "none",
      address: "a",
      listener: "l",
      rpc: "r",
      request_id: "i",
      backend: "real",
      instance_id: "i",
      host: "gateway",
    };
    const added = await db
      .insertInto("audit_events")
      .values(Array.from({ length: args.count }, () => event))
      .returning("seq")
      .execute();
    const last = Math.max(...added.map(({ seq }) => seq));
    await db
      .deleteFrom("audit_events")
      .where("seq", ">", last - args.removeLast)
      .execute();
    return { last };
  },

  async "space.count"({ db }: TransactionContext, { prefix }: { prefix: string }) {
    const rows = await db.selectFrom("meta").select("name").where("name", "like", `${prefix}%`).execute();
    return rows.length;
  },

  /** Exits the thread or process that runs it. */
  "process.end": async (): Promise<void> => process.exit(3),
};
