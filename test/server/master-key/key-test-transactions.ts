import { sql } from "kysely";
import { transactions as ofGateway } from "../../../server/gateway/store-transactions.ts";
import type { SealedColumnName } from "../../../server/master-key/store/sealed-values.ts";
import type { TransactionContext } from "../../../server/store/transaction.ts";

type Row = Readonly<Record<string, unknown>>;

/** The gateway's transactions, and those with which tests fill and read any table. */
export const transactions = {
  ...ofGateway,

  /** Inserts a row; columns that are not given get a value of their type. */
  async "test.insert"({ db }: TransactionContext, { table, row }: { table: string; row: Row }) {
    const found = (await db.introspection.getTables()).find(({ name }) => name === table);
    const filled = (found?.columns ?? []).flatMap(({ name, dataType, isAutoIncrementing, isNullable }) => {
      if (Object.hasOwn(row, name)) {
        return [[name, row[name]] as const];
      }
      return isAutoIncrementing || isNullable || name === "seq" ? [] : [[name, filledIn(dataType)] as const];
    });
    const columns = sql.join(filled.map(([name]) => sql.ref(name)));
    await sql`insert into ${sql.table(table)} (${columns}) values (${sql.join(filled.map(([, value]) => value))})`.execute(
      db,
    );
  },

  /** Reads the secrets of a column. */
  async "test.secrets"({ db }: TransactionContext, { table, column, keyColumns }: SealedColumnName) {
    const keys = sql.join(keyColumns.map((name) => sql.ref(name)));
    const { rows } = await sql<Record<string, unknown>>`
      select ${keys}, ${sql.ref(column)} as sealed from ${sql.table(table)} where ${sql.ref(column)} is not null
    `.execute(db);
    return rows.map(({ sealed, ...key }) => ({ key, sealed: new Uint8Array(sealed as Uint8Array) }));
  },

  /** Lists the columns with bytes, as `table.column`. */
  async "test.byteColumns"({ db }: TransactionContext, _args: undefined) {
    return (await db.introspection.getTables()).flatMap(({ name, columns }) =>
      columns
        .filter(({ dataType }) => /^(blob|bytea)$/i.test(dataType))
        .map((column) => `${name}.${column.name}`),
    );
  },
};

function filledIn(dataType: string): unknown {
  if (/^(blob|bytea)$/i.test(dataType)) {
    return new Uint8Array([1]);
  }
  return /int/i.test(dataType) ? 0 : "x";
}
