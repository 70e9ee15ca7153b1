import type { Expression, ExpressionBuilder, Kysely, SqlBool } from "kysely";
import type { Schema } from "../../../store/schema.ts";
import type { TransactionContext } from "../../../store/transaction.ts";
import { nextAuthVersion } from "./auth-version.ts";

/** A signing key as it is stored: its secret is encrypted with the master key. */
export interface NewSigningKey {
  readonly id: string;
  readonly secretSealed: Uint8Array;
}

/** Data for the token of a new session; not `ok` if the user is gone or has changed the password. */
export type OpenedSession =
  | {
      readonly ok: true;
      /** The key that currently signs. */
      readonly signingKeyId: string;
      readonly issuedAtMs: number;
      readonly expiresAtMs: number;
    }
  | { readonly ok: false };

/** A session of a provider's user that has ended. */
export interface EndedProviderSession {
  readonly jti: string;
  readonly provider: string;
  readonly refreshTokenSealed: Uint8Array;
}

/** Session tokens: the keys that sign them, and revoked tokens. */
export const sessionTransactions = {
  /** Adds the key if no key signs yet, so that several gateways that start at once agree on one. */
  async "signingKeys.ensure"(context: TransactionContext, key: NewSigningKey): Promise<void> {
    if ((await currentKey(context.db)) === undefined) {
      await insertKey(context, key, await nextAuthVersion(context));
    }
  },

  /** Makes the key the one that signs. Older keys still verify; those whose last token has expired are removed. */
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
   * Opens a session, if the user's password is still the one that was verified. Takes no `auth_version`, because other calls
   * are not affected.
   * @param lifetimeMs lifetime of the token, rounded down to a whole second, the resolution of `exp`
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
    // A session opened in the millisecond of a password change must be later than those that the change ended.
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

  /**
   * Revokes a session for good; rows of tokens that have expired since are removed.
   * @returns the session of a provider's user, unless it had ended before
   */
  async "sessions.revoke"(
    context: TransactionContext,
    session: { jti: string; accountId: string; expiresAtMs: number },
  ): Promise<EndedProviderSession | undefined> {
    const { db, nowMs } = context;
    const row = {
      jti: session.jti,
      account_id: session.accountId,
      expires_at: session.expiresAtMs,
      version: await nextAuthVersion(context),
    };
    // With a margin, because the clocks of the gateways differ.
    await db
      .deleteFrom("revocations")
      .where("expires_at", "<", nowMs - keptMs)
      .execute();
    const [ofProvider] = await removeProviderSessions(db, (row) => row("jti", "=", session.jti));
    await db
      .insertInto("revocations")
      .values(row)
      .onConflict((conflict) => conflict.column("jti").doNothing())
      .execute();
    return ofProvider;
  },
};

/** Removes sessions of providers' users. Returns them, because their refresh tokens are to be revoked. */
export async function removeProviderSessions(
  db: Kysely<Schema>,
  which: (row: ExpressionBuilder<Schema, "provider_sessions">) => Expression<SqlBool>,
): Promise<readonly EndedProviderSession[]> {
  const rows = await db
    .deleteFrom("provider_sessions")
    .where(which)
    .returning(["jti", "provider", "refresh_token_sealed as refreshTokenSealed"])
    .execute();
  return rows;
}

/** Margin, so that logins write the row of the key, which they all share, only once an hour. */
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
