import type { Kysely, Selectable } from "kysely";
import type { Grant } from "../../../rpc/access/grant.ts";
import type { Schema } from "../../../store/schema.ts";
import type { ChangeMode, DryRun, TransactionContext } from "../../../store/transaction.ts";
import { nextAuthVersion } from "./auth-version.ts";
import type { ApiTokensTable } from "./tables.ts";

/** An API token, without its hash. */
export interface ApiTokenRecord {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Services that the token may call. Null: all of them. */
  readonly services: readonly string[] | null;
  /** Null: role and services decide. */
  readonly grants: readonly Grant[] | null;
  /** Actor that created it, e.g. `user/admin`. */
  readonly createdBy: string;
  readonly createdAtMs: number;
  /** Null: it never expires. */
  readonly expiresAtMs: number | null;
  readonly lastUsedAtMs: number | null;
}

/** An API token to create. */
export interface NewApiToken {
  readonly id: string;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly role: string;
  readonly services: readonly string[] | null;
  /** Null or absent: role and services decide. */
  readonly grants?: readonly Grant[] | null;
  readonly createdBy: string;
  /** Null: it never expires. */
  readonly lifetimeMs: number | null;
}

/** The token that was created or revoked, or the reason for the refusal. */
export type ApiTokenResult =
  | { readonly ok: true; readonly token: ApiTokenRecord }
  | { readonly ok: false; readonly why: "exists" | "notFound" | "changed" };

type ApiTokenRow = Selectable<ApiTokensTable>;

/** API tokens. Revoked tokens stay as rows, so that no ID is ever reused. */
export const apiTokenTransactions = {
  /** Lists the tokens that are not revoked, by name. */
  async "apiTokens.list"({ db }: TransactionContext): Promise<readonly ApiTokenRecord[]> {
    return (await tokens(db).orderBy("name").execute()).map(recordFromRow);
  },

  async "apiTokens.create"(context: TransactionContext, args: NewApiToken & DryRun): Promise<ApiTokenResult> {
    const { db, nowMs } = context;
    if ((await tokenRow(db, args.name)) !== undefined) {
      return { ok: false, why: "exists" };
    }
    const row: ApiTokenRow = {
      id: args.id,
      name: args.name,
      hash: args.hash,
      role: args.role,
      services: args.services === null ? null : JSON.stringify(args.services),
      grants: args.grants === null || args.grants === undefined ? null : JSON.stringify(args.grants),
      created_by: args.createdBy,
      created_at: nowMs,
      expires_at: args.lifetimeMs === null ? null : nowMs + args.lifetimeMs,
      last_used_at: null,
      revoked_at: null,
      version: 0,
    };
    if (args.dryRun !== true) {
      const version = await nextAuthVersion(context);
      await db
        .insertInto("api_tokens")
        .values({ ...row, version })
        .execute();
    }
    return { ok: true, token: recordFromRow(row) };
  },

  async "apiTokens.revoke"(
    context: TransactionContext,
    { name, dryRun, since }: { name: string } & ChangeMode<ApiTokenRecord>,
  ): Promise<ApiTokenResult> {
    const { db, nowMs } = context;
    const row = await tokenRow(db, name);
    if (row === undefined) {
      return { ok: false, why: "notFound" };
    }
    if (since !== undefined && since.id !== row.id) {
      return { ok: false, why: "changed" };
    }
    if (dryRun !== true) {
      const version = await nextAuthVersion(context);
      const change = { revoked_at: nowMs, version };
      await db.updateTable("api_tokens").set(change).where("id", "=", row.id).execute();
    }
    return { ok: true, token: recordFromRow(row) };
  },

  /**
   * Records when tokens were last used. Takes no `auth_version`, since the last use does not affect authentication.
   * `agoMs` is an age, because the clocks of the gateway and the database may differ.
   */
  async "apiTokens.noteUse"(
    { db, nowMs }: TransactionContext,
    { uses }: { uses: readonly { readonly id: string; readonly agoMs: number }[] },
  ): Promise<void> {
    for (const { id, agoMs } of uses) {
      const usedAt = nowMs - agoMs;
      await db
        .updateTable("api_tokens")
        .set({ last_used_at: usedAt })
        .where("id", "=", id)
        .where((where) => where.or([where("last_used_at", "is", null), where("last_used_at", "<", usedAt)]))
        .execute();
    }
  },
};

function tokens(db: Kysely<Schema>) {
  return db.selectFrom("api_tokens").selectAll().where("revoked_at", "is", null);
}

function tokenRow(db: Kysely<Schema>, name: string): Promise<ApiTokenRow | undefined> {
  return tokens(db).where("name", "=", name).executeTakeFirst();
}

function recordFromRow(row: ApiTokenRow): ApiTokenRecord {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    services: row.services === null ? null : JSON.parse(row.services),
    grants: row.grants === null ? null : JSON.parse(row.grants),
    createdBy: row.created_by,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
    lastUsedAtMs: row.last_used_at,
  };
}
