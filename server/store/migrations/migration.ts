import type { CreateTableBuilder, Kysely, RawBuilder } from "kysely";

/** Column types and tables of the database that a migration changes. */
export interface ColumnTypes {
  /** Text that is compared byte by byte, independent of the database's locale. */
  readonly text: RawBuilder<unknown>;
  /** An integer below 2^53. */
  readonly integer: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** Starts a table with an auto-incremented primary key; numbers are never reused. */
  createCountedTable<Table extends string, Key extends string>(
    db: Kysely<unknown>,
    table: Table,
    key: Key,
  ): CreateTableBuilder<Table, Key>;
}

/**
 * A schema migration. It runs in a transaction that is committed as a whole or not at all. A released migration is never
 * changed.
 */
export type Migration = (db: Kysely<unknown>, types: ColumnTypes) => Promise<void>;
