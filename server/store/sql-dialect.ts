import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./migrations/migration.ts";
import type { Schema } from "./schema.ts";

/** Differences between the two databases for creating and copying tables. */
export interface SqlDialect extends ColumnTypes {
  tableExists(db: Kysely<Schema>, table: string): Promise<boolean>;
}

export const sqliteDialect: SqlDialect = {
  text: sql`text`,
  integer: sql`integer`,
  bytes: sql`blob`,
  createCountedTable: (db, table, key) =>
    db.schema.createTable(table).addColumn(key, "integer", (column) => column.primaryKey().autoIncrement()),
  async tableExists(db, table) {
    const found = await sql`select 1 from sqlite_master where type = 'table' and name = ${table}`.execute(db);
    return found.rows.length > 0;
  },
};

export const postgresDialect: SqlDialect = {
  text: sql`text collate "C"`,
  integer: sql`bigint`,
  bytes: sql`bytea`,
  createCountedTable: (db, table, key) =>
    db.schema
      .createTable(table)
      .addColumn(key, "bigint", (column) => column.primaryKey().generatedByDefaultAsIdentity()),
  async tableExists(db, table) {
    const found = await sql<{ exists: boolean }>`select to_regclass(${table}) is not null as exists`.execute(
      db,
    );
    return found.rows[0]?.exists === true;
  },
};
