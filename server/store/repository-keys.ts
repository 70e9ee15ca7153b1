import type { Selectable } from "kysely";
import type { RepositoryKeysTable } from "./schema.ts";
import type { TransactionContext } from "./transaction.ts";

export type RepositoryKeyRow = Selectable<RepositoryKeysTable>;

/** Keys that the gateway has made for repositories of backups, one for each. */
export const repositoryKeyTransactions = {
  /** The key of a repository, or of this name. */
  async "repositoryKeys.get"(
    { db }: TransactionContext,
    by: { repository: string } | { name: string },
  ): Promise<RepositoryKeyRow | undefined> {
    return db
      .selectFrom("repository_keys")
      .selectAll()
      .where(({ and }) => and(by))
      .executeTakeFirst();
  },

  /** Keeps a key for its repository, unless that has one; returns the one it has. */
  async "repositoryKeys.make"(
    { db, nowMs }: TransactionContext,
    { name, repository, secretSealed }: { name: string; repository: string; secretSealed: Uint8Array },
  ): Promise<RepositoryKeyRow> {
    await db
      .insertInto("repository_keys")
      .values({ name, repository, secret_sealed: secretSealed, created_at: nowMs })
      .onConflict((conflict) => conflict.column("repository").doNothing())
      .execute();
    return db
      .selectFrom("repository_keys")
      .selectAll()
      .where("repository", "=", repository)
      .executeTakeFirstOrThrow();
  },
};
