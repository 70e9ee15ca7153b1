import { type RawBuilder, sql } from "kysely";
import { keyOfSealed, sealHeadBytes, sealHeadOf } from "../../crypto/seal.ts";
import type { TransactionContext } from "../../store/transaction.ts";
import type { SealedColumn } from "../sealed-columns.ts";

/** The part of a column that can be sent to the store's thread. */
export type SealedColumnName = Pick<SealedColumn, "table" | "column" | "keyColumns">;

/** A secret in the store. */
export interface SealedValue {
  /** Its row's key columns. */
  readonly key: Readonly<Record<string, unknown>>;
  readonly sealed: Uint8Array;
}

/** Number of secrets that need a master key. */
export interface KeyUse {
  readonly fingerprint: string;
  readonly table: string;
  readonly count: number;
}

/** Encrypted secrets, whatever their tables. */
export const sealedValueTransactions = {
  /** Returns some secrets that need another key than the given one, in the order of their keys, after a row. */
  async "sealedValues.ofOtherKeys"(
    { db }: TransactionContext,
    args: {
      readonly of: SealedColumnName;
      readonly fingerprint: string;
      readonly after: SealedValue["key"] | undefined;
      readonly limit: number;
    },
  ): Promise<readonly SealedValue[]> {
    const { of, after, limit } = args;
    const keys = sql.join(of.keyColumns.map((name) => sql.ref(name)));
    const isAfter =
      after === undefined
        ? sql`1 = 1`
        : sql`(${keys}) > (${sql.join(of.keyColumns.map((name) => after[name]))})`;
    const { rows } = await sql<Record<string, unknown>>`
      select ${keys}, ${sql.ref(of.column)} as sealed from ${sql.table(of.table)}
      where length(${sql.ref(of.column)}) > 0 and ${headOf(of)} <> ${sealHeadOf(args.fingerprint)} and ${isAfter}
      order by ${keys} limit ${limit}
    `.execute(db);
    return rows.map(({ sealed, ...key }) => ({ key, sealed: new Uint8Array(sealed as Uint8Array) }));
  },

  /** Replaces secrets that have not changed since they were read. */
  async "sealedValues.replace"(
    { db }: TransactionContext,
    args: {
      readonly of: SealedColumnName;
      readonly values: readonly (SealedValue & { readonly replacement: Uint8Array })[];
    },
  ): Promise<void> {
    const { table, column, keyColumns } = args.of;
    for (const { key, sealed, replacement } of args.values) {
      const isRow = sql.join(
        keyColumns.map((name) => sql`${sql.ref(name)} = ${key[name]}`),
        sql` and `,
      );
      await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${replacement}
        where ${isRow} and ${sql.ref(column)} = ${sealed}
      `.execute(db);
    }
  },

  /** Counts the secrets by master key and table. */
  async "sealedValues.count"(
    { db }: TransactionContext,
    { of }: { readonly of: readonly SealedColumnName[] },
  ): Promise<readonly KeyUse[]> {
    const uses: KeyUse[] = [];
    for (const each of of) {
      const { rows } = await sql<{ head: Uint8Array; count: number }>`
        select ${headOf(each)} as head, count(*) as count from ${sql.table(each.table)}
        where length(${sql.ref(each.column)}) > 0 group by 1 order by 1
      `.execute(db);
      for (const { head, count } of rows) {
        uses.push({ fingerprint: keyOfSealed(head), table: each.table, count: Number(count) });
      }
    }
    return uses;
  },
};

/** Returns the expression of the part of a secret that names its master key. */
export function headOf({ column }: Pick<SealedColumn, "column">): RawBuilder<unknown> {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(sealHeadBytes)})`;
}
