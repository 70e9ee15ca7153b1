import type { Selectable } from "kysely";
import type { TransactionContext } from "../../store/transaction.ts";
import type { RepositoryKeysTable } from "./tables.ts";

export type RepositoryKeyRow = Selectable<RepositoryKeysTable>;

/** Keys that the gateway has created for backup repositories, one per repository. */
export const repositoryKeyTransactions = {
  /** Returns the key of a repository, or the key with a name. */
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

  /** Lists all keys. */
  async "repositoryKeys.list"({ db }: TransactionContext, _args: undefined): Promise<RepositoryKeyRow[]> {
    return db.selectFrom("repository_keys").selectAll().orderBy("repository").execute();
  },

  /** Stores a key for its repository, unless the repository has one; returns the repository's key. */
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
