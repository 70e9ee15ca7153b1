import { sql } from "kysely";
import type { TransactionContext } from "./transaction.ts";

/** Checks whether the database answers, and how large it is. */
export const storeCheckTransactions = {
  /** Reads one row; returns the number of migrations applied. */
  async "store.check"({ db }: TransactionContext, _args: Record<never, never>) {
    const { value } = await db
      .selectFrom("meta")
      .select("value")
      .where("name", "=", "schema_version")
      .executeTakeFirstOrThrow();
    return { schemaVersion: Number(value) };
  },

  /** Returns the size of a PostgreSQL database. SQLite has files instead (`readDatabaseBytes`). */
  async "store.size"({ db }: TransactionContext, _args: Record<never, never>) {
    const { rows } = await sql<{
      bytes: string;
    }>`select pg_database_size(current_database()) as bytes`.execute(db);
    return { sizeBytes: Number(rows[0]?.bytes) };
  },
};
