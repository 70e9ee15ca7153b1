import type { CreateTableBuilder, Kysely, RawBuilder } from "kysely";

/** What a migration needs to know of the database it changes. */
export interface ColumnTypes {
  /** Text that is compared byte by byte, whatever the database's locale. */
  readonly text: RawBuilder<unknown>;
  /** A whole number below 2^53. */
  readonly integer: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** Begins a table with a primary key that the database counts up and never uses twice. */
  createCountedTable<Table extends string, Key extends string>(
    db: Kysely<unknown>,
    table: Table,
    key: Key,
  ): CreateTableBuilder<Table, Key>;
}

/**
 * One step forward of the tables. Runs in a transaction that is kept as a whole or not at all. A migration that
 * was released is never changed.
 */
export type Migration = (db: Kysely<unknown>, types: ColumnTypes) => Promise<void>;
