import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import type { Schema } from "../schema.ts";

/** More than the number of distinct statements; bounds the variants with lists of different lengths. */
const keptStatements = 500;

/** Returns Kysely on top of `node:sqlite`. Its queries settle without leaving the current turn of the event loop. */
export function kyselyFromSqlite(database: DatabaseSync): Kysely<Schema> {
  const statements = new Map<string, SqliteStatement>();
  const sqliteDatabase: SqliteDatabase = {
    prepare(sql) {
      const kept = statements.get(sql);
      if (kept !== undefined) {
        return kept;
      }
      if (statements.size >= keptStatements) {
        statements.clear();
      }
      const statement = kyselyStatement(database.prepare(sql));
      statements.set(sql, statement);
      return statement;
    },
    close: () => database.close(),
  };
  return new Kysely<Schema>({ dialect: new SqliteDialect({ database: sqliteDatabase }) });
}

function kyselyStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...parameters.map(inputValue)),
    run: (parameters) => statement.run(...parameters.map(inputValue)),
    iterate: (parameters) => statement.iterate(...parameters.map(inputValue)),
  };
}

function inputValue(value: unknown): SQLInputValue {
  // Node binds every number as a REAL: in a column without a type that converts it back, 5 would become 5.0.
  if (Number.isSafeInteger(value)) {
    return BigInt(value as number);
  }
  if (typeof value === "string" && value.includes("\0")) {
    throw new TypeError("a text contains a NUL, which PostgreSQL would reject");
  }
  return value as SQLInputValue;
}
