import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../../store/schema.ts";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { ApiTokensTable, RevocationsTable, SigningKeysTable, UsersTable } from "./tables.ts";

/** Rows that changed since a version, including removed, revoked and retired ones. */
export interface AuthChanges {
  /** Version of the newest row; pass it as the next `sinceVersion`. */
  readonly version: number;
  readonly users: readonly Selectable<UsersTable>[];
  readonly apiTokens: readonly Selectable<ApiTokensTable>[];
  readonly signingKeys: readonly Selectable<SigningKeysTable>[];
  readonly revocations: readonly Selectable<RevocationsTable>[];
}

/** Everything that affects authentication and authorization: users, API tokens, signing keys and revocations. */
export const authChangeTransactions = {
  /** Returns all rows with a version above `sinceVersion`; 0 returns all rows. */
  async "auth.changes"(
    { db }: TransactionContext,
    { sinceVersion }: { sinceVersion: number },
  ): Promise<AuthChanges> {
    const version = await authVersion(db);
    if (version === sinceVersion) {
      return { version, users: [], apiTokens: [], signingKeys: [], revocations: [] };
    }
    const newer = ["version", ">", sinceVersion] as const;
    return {
      version,
      users: await db
        .selectFrom("users")
        .selectAll()
        .where(...newer)
        .execute(),
      apiTokens: await db
        .selectFrom("api_tokens")
        .selectAll()
        .where(...newer)
        .execute(),
      signingKeys: await db
        .selectFrom("signing_keys")
        .selectAll()
        .where(...newer)
        .execute(),
      revocations: await db
        .selectFrom("revocations")
        .selectAll()
        .where(...newer)
        .execute(),
    };
  },
};

async function authVersion(db: Kysely<Schema>): Promise<number> {
  const row = await db
    .selectFrom("meta")
    .select("value")
    .where("name", "=", "auth_version")
    .executeTakeFirstOrThrow();
  return Number(row.value);
}
