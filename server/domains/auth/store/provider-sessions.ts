import type { Kysely } from "kysely";
import type { Schema } from "../../../store/schema.ts";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { AccountAccess } from "../access/account-grants.ts";
import { type ConfirmedUser, setProviderUserAccess, upsertProviderUser } from "./provider-users.ts";
import {
  type EndedProviderSession,
  type OpenedSession,
  removeProviderSessions,
  sessionTransactions,
} from "./sessions.ts";

/** A login that a provider has confirmed. */
export interface NewProviderSession extends ConfirmedUser {
  readonly jti: string;
  readonly sid: string | undefined;
  readonly refreshTokenSealed: Uint8Array;
  readonly lifetimeMs: number;
}

/** Data for the token of the session, its user, and the sessions that were removed because they had expired. */
export type OpenedProviderSession = OpenedSession & {
  readonly userId: string;
  readonly userName: string;
  readonly expired: readonly EndedProviderSession[];
};

/** Whether a session must be checked at its provider now. */
export type SessionCheck =
  /** The session is over. */
  | { readonly state: "gone" }
  /** It was checked recently. */
  | { readonly state: "checked"; readonly agoMs: number }
  /** Another gateway is checking it. */
  | { readonly state: "busy" }
  /** The caller must check it before the lease ends. */
  | { readonly state: "due"; readonly subject: string; readonly refreshTokenSealed: Uint8Array };

/** Sessions of users of identity providers, with the sealed refresh tokens by which they are checked. */
export const providerSessionTransactions = {
  /** Creates or updates the user, and opens a session. Removes the sessions that have expired. */
  async "providerSessions.open"(
    context: TransactionContext,
    session: NewProviderSession,
  ): Promise<OpenedProviderSession> {
    const { db, nowMs } = context;
    const user = await upsertProviderUser(context, session);
    const opened = await sessionTransactions["sessions.open"](context, {
      userId: user.id,
      passwordHash: null,
      lifetimeMs: session.lifetimeMs,
    });
    const expired = await removeProviderSessions(db, (row) => row("expires_at", "<", nowMs));
    if (opened.ok) {
      const row = {
        jti: session.jti,
        user_id: user.id,
        provider: session.provider,
        subject: session.subject,
        sid: session.sid ?? null,
        refresh_token_sealed: session.refreshTokenSealed,
        began_at: nowMs,
        checked_at: nowMs,
        lease_until: 0,
        expires_at: opened.expiresAtMs,
      };
      await db.insertInto("provider_sessions").values(row).execute();
    }
    return { ...opened, userId: user.id, userName: user.name, expired };
  },

  /**
   * Takes the lease on the check of a session, unless it was checked less than `freshMs` ago. Only one gateway may use a refresh
   * token, because providers end a login whose old refresh token is used.
   */
  async "providerSessions.claim"(
    { db, nowMs }: TransactionContext,
    { jti, freshMs, leaseMs }: { jti: string; freshMs: number; leaseMs: number },
  ): Promise<SessionCheck> {
    const row = await db
      .selectFrom("provider_sessions")
      .selectAll()
      .where("jti", "=", jti)
      .where("expires_at", ">", nowMs)
      .executeTakeFirst();
    if (row === undefined) {
      return { state: "gone" };
    }
    const agoMs = Math.max(nowMs - row.checked_at, 0);
    if (agoMs < freshMs) {
      return { state: "checked", agoMs };
    }
    if (row.lease_until > nowMs) {
      return { state: "busy" };
    }
    await db
      .updateTable("provider_sessions")
      .set({ lease_until: nowMs + leaseMs })
      .where("jti", "=", jti)
      .execute();
    return { state: "due", subject: row.subject, refreshTokenSealed: row.refresh_token_sealed };
  },

  /** Replaces the refresh token of a session. @returns false if the session is over */
  async "providerSessions.keepToken"(
    { db }: TransactionContext,
    { jti, refreshTokenSealed }: { jti: string; refreshTokenSealed: Uint8Array },
  ): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable("provider_sessions")
      .set({ refresh_token_sealed: refreshTokenSealed })
      .where("jti", "=", jti)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  },

  /**
   * Ends the lease. After a check that succeeded, notes its time and what the user may do.
   * @returns whether that has changed
   */
  async "providerSessions.release"(
    context: TransactionContext,
    { jti, access }: { jti: string; access: AccountAccess | undefined },
  ): Promise<boolean> {
    const { db, nowMs } = context;
    const checked = access === undefined ? {} : { checked_at: nowMs };
    const row = await db
      .updateTable("provider_sessions")
      .set({ lease_until: 0, ...checked })
      .where("jti", "=", jti)
      .returning("user_id")
      .executeTakeFirst();
    return row !== undefined && access !== undefined && setProviderUserAccess(context, row.user_id, access);
  },

  /**
   * Ends sessions for good: one by its ID, or those of a provider's session or user that began until `begunUntilMs`.
   * @returns those that had not ended before
   */
  async "providerSessions.end"(
    context: TransactionContext,
    which:
      | { jti: string }
      | { provider: string; sid: string | undefined; subject: string | undefined; begunUntilMs: number },
  ): Promise<readonly EndedProviderSession[]> {
    const ended: EndedProviderSession[] = [];
    const sessions = await sessionsOf(context.db, which).execute();
    for (const { jti, user_id: accountId, expires_at: expiresAtMs } of sessions) {
      const session = await sessionTransactions["sessions.revoke"](context, { jti, accountId, expiresAtMs });
      ended.push(...(session === undefined ? [] : [session]));
    }
    return ended;
  },
};

function sessionsOf(
  db: Kysely<Schema>,
  which: Parameters<(typeof providerSessionTransactions)["providerSessions.end"]>[1],
) {
  const all = db.selectFrom("provider_sessions").selectAll();
  if ("jti" in which) {
    return all.where("jti", "=", which.jti);
  }
  const { provider, sid, subject, begunUntilMs } = which;
  const ofProvider = all.where("provider", "=", provider).where("began_at", "<=", begunUntilMs);
  const ofSid = sid === undefined ? ofProvider : ofProvider.where("sid", "=", sid);
  return subject === undefined ? ofSid : ofSid.where("subject", "=", subject);
}
