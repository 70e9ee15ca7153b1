import type { Kysely } from "kysely";
import { nextAuthVersion } from "./auth-version.ts";
import type { Schema } from "./schema.ts";
import type { TransactionContext } from "./transaction.ts";

/** A key as it is kept: its secret is encrypted with the master key. */
export interface NewSigningKey {
  readonly id: string;
  readonly secretSealed: Uint8Array;
}

/** What the token of a new session says, or why there is none: the user is gone, or has another password by now. */
export type OpenedSession =
  | {
      readonly ok: true;
      /** Of the key that signs now. */
      readonly signingKeyId: string;
      readonly issuedAtMs: number;
      readonly expiresAtMs: number;
    }
  | { readonly ok: false };

/** Session tokens: the keys that sign them, and those that were given up before their time. */
export const sessionTransactions = {
  /** Adds the key if none signs yet; of several gateways that start at once one does. */
  async "signingKeys.ensure"(context: TransactionContext, key: NewSigningKey): Promise<void> {
    if ((await currentKey(context.db)) === undefined) {
      await insertKey(context, key, await nextAuthVersion(context));
    }
  },

  /** The key signs from now on. Older ones verify what they have signed; those whose last token has expired are removed. */
  async "signingKeys.rotate"(context: TransactionContext, key: NewSigningKey): Promise<void> {
    const { db, nowMs } = context;
    const version = await nextAuthVersion(context);
    await db
      .deleteFrom("signing_keys")
      .where("retired_at", "is not", null)
      .where("verify_until", "<", nowMs)
      .execute();
    await db
      .updateTable("signing_keys")
      .set({ retired_at: nowMs, version })
      .where("retired_at", "is", null)
      .execute();
    await insertKey(context, key, version);
  },

  /**
   * Begins a session, if the user still has the password that was verified. Takes no version, as nothing that decides
   * about other calls changes.
   * @param lifetimeMs how long its token is accepted, down to a whole second since `exp` has no smaller unit
   */
  async "sessions.open"(
    { db, nowMs }: TransactionContext,
    args: { userId: string; passwordHash: string | null; lifetimeMs: number },
  ): Promise<OpenedSession> {
    const user = await db
      .selectFrom("users")
      .select(["password_hash", "tokens_not_before"])
      .where("id", "=", args.userId)
      .where("removed_at", "is", null)
      .executeTakeFirst();
    const key = await currentKey(db);
    if (user === undefined || user.password_hash !== args.passwordHash || key === undefined) {
      return { ok: false };
    }
    // One of the millisecond in which the password changed must be known from those before.
    const issuedAtMs = Math.max(nowMs, user.tokens_not_before + 1);
    const expiresAtMs = Math.floor((issuedAtMs + args.lifetimeMs) / 1000) * 1000;
    if ((key.verify_until ?? 0) < expiresAtMs) {
      await db
        .updateTable("signing_keys")
        .set({ verify_until: expiresAtMs + spareMs })
        .where("id", "=", key.id)
        .execute();
    }
    return { ok: true, signingKeyId: key.id, issuedAtMs, expiresAtMs };
  },

  /** Ends a session before its time, once and for all; rows of tokens that have expired since are removed. */
  async "sessions.revoke"(
    context: TransactionContext,
    session: { jti: string; accountId: string; expiresAtMs: number },
  ): Promise<void> {
    const { db, nowMs } = context;
    const row = {
      jti: session.jti,
      account_id: session.accountId,
      expires_at: session.expiresAtMs,
      version: await nextAuthVersion(context),
    };
    // Some time later, since the clocks of the gateways differ.
    await db
      .deleteFrom("revocations")
      .where("expires_at", "<", nowMs - keptMs)
      .execute();
    await db
      .insertInto("revocations")
      .values(row)
      .onConflict((conflict) => conflict.column("jti").doNothing())
      .execute();
  },
};

/** The row of the key, which all logins share, is then written once an hour. */
const spareMs = 60 * 60 * 1000;
const keptMs = 60 * 60 * 1000;

function currentKey(db: Kysely<Schema>) {
  return db
    .selectFrom("signing_keys")
    .select(["id", "verify_until"])
    .where("retired_at", "is", null)
    .executeTakeFirst();
}

async function insertKey(
  { db, nowMs }: TransactionContext,
  { id, secretSealed }: NewSigningKey,
  version: number,
): Promise<void> {
  const row = {
    id,
    secret_sealed: secretSealed,
    created_at: nowMs,
    retired_at: null,
    verify_until: null,
    version,
  };
  await db.insertInto("signing_keys").values(row).execute();
}
