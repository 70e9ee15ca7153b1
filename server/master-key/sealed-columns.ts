/** A column with secrets that are encrypted with the master key. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The columns that identify a row. */
  readonly keyColumns: readonly string[];
  /** The purpose of its seal. */
  readonly purpose: string;
  /** Returns the context of a row's secret, from the row's key columns. */
  context(row: Readonly<Record<string, unknown>>): string;
}

/**
 * Every column with such secrets. A change of the master key encrypts them again, so a column that is missing here would be
 * lost with the old key; the tests compare the list with the tables.
 */
export const sealedColumns: readonly SealedColumn[] = [
  sealedColumn("signing_keys", "secret_sealed", "signing-key", "id"),
  sealedColumn("operations", "secrets_sealed", "operations", "id"),
  sealedColumn("repository_keys", "secret_sealed", "repository-key", "name"),
  sealedColumn("clusters", "secrets_sealed", "cluster", "uid"),
  sealedColumn("saved_plans", "request_sealed", "plans", "id"),
  sealedColumn("provider_sessions", "refresh_token_sealed", "provider-session", "jti"),
  sealedColumn("digest_keys", "key_sealed", "digest-key", "name"),
  {
    table: "idempotency_keys",
    column: "result_sealed",
    keyColumns: ["caller", "method", "key_hash"],
    purpose: "idempotency",
    context: ({ caller, method, key_hash }) =>
      `${caller}\0${method}\0${Buffer.from(key_hash as Uint8Array).toString("hex")}`,
  },
  { ...sealedColumn("fleet_authority", "sealed", "fleet-authority", "id"), context: () => "authority" },
  { ...sealedColumn("fleet_membership", "sealed", "fleet-membership", "id"), context: () => "membership" },
];

/** Returns a column whose rows have one key column, which is also the context. */
function sealedColumn(table: string, column: string, purpose: string, key: string): SealedColumn {
  return { table, column, keyColumns: [key], purpose, context: (row) => String(row[key]) };
}
