import type { Kysely } from "kysely";
import type { Schema } from "../../../store/schema.ts";
import type { ChangeMode, DryRun, TransactionContext } from "../../../store/transaction.ts";
import { nextAuthVersion } from "./auth-version.ts";
import { removeProviderSessions } from "./sessions.ts";
import {
  accessColumns,
  jsonOrNull,
  type NewUser,
  type RemovedUserResult,
  recordFromRow,
  type UserChange,
  type UserRecord,
  type UserRefusal,
  type UserResult,
  type UserRow,
} from "./user-record.ts";

/** Users. Removed users stay as rows, so that no ID is ever reused and the audit log stays readable. */
export const userTransactions = {
  /** Lists all users by name. */
  async "users.list"({ db }: TransactionContext): Promise<readonly UserRecord[]> {
    return (await userRows(db).orderBy("name").execute()).map(recordFromRow);
  },

  async "users.create"(context: TransactionContext, args: NewUser & DryRun): Promise<UserResult> {
    const { db } = context;
    if ((await userRow(db, args.name)) !== undefined) {
      return { ok: false, why: "exists" };
    }
    const taken = await takenCertificateName(db, args.name, args.certificateNames);
    return taken ?? insertUser(context, args);
  },

  /** Creates the user if there has never been one. */
  async "users.createFirst"(context: TransactionContext, args: NewUser): Promise<UserResult> {
    const any = await context.db.selectFrom("users").select("id").limit(1).executeTakeFirst();
    return any === undefined ? insertUser(context, args) : { ok: false, why: "exists" };
  },

  /** Reports whether there has never been a user. */
  async "users.isFirstStart"({ db }: TransactionContext): Promise<boolean> {
    return (await db.selectFrom("users").select("id").limit(1).executeTakeFirst()) === undefined;
  },

  async "users.update"(
    context: TransactionContext,
    { name, change, dryRun, since }: { name: string; change: UserChange } & ChangeMode<UserRecord>,
  ): Promise<UserResult> {
    const { db } = context;
    const row = await userRow(db, name);
    if (row === undefined) {
      return { ok: false, why: "notFound" };
    }
    if (isChangedSince(row, since)) {
      return { ok: false, why: "changed" };
    }
    if (row.provider !== null) {
      return { ok: false, why: "ofProvider" };
    }
    const { role, services, grants, certificateNames } = change;
    if (row.grants !== null && grants === undefined && (role !== undefined || services !== undefined)) {
      return { ok: false, why: "hasGrants" };
    }
    const changed: UserRow = {
      ...row,
      // The services of grants end with them.
      ...(row.grants !== null && grants === null ? { services: null } : {}),
      ...(role === undefined ? {} : { role }),
      ...(services === undefined ? {} : { services: jsonOrNull(services) }),
      ...(grants === undefined ? {} : { grants: jsonOrNull(grants) }),
      ...(certificateNames === undefined ? {} : { certificate_names: JSON.stringify(certificateNames) }),
    };
    const taken = await takenCertificateName(db, name, certificateNames ?? []);
    if (taken !== undefined) {
      return taken;
    }
    if (await wouldEndAdmins(db, row, changed)) {
      return { ok: false, why: "lastAdmin" };
    }
    return writeUser(context, changed, dryRun);
  },

  /** Sets a new password, which ends every login. */
  async "users.setPassword"(
    context: TransactionContext,
    args: {
      name: string;
      passwordHash: string;
      /** Refuses if the current hash differs; undefined: do not check. */
      ifHash?: string | undefined;
      /** `jti` of the one session that stays logged in; undefined: none. */
      keptSession?: string | undefined;
    } & ChangeMode<UserRecord>,
  ): Promise<UserResult> {
    const row = await userRow(context.db, args.name);
    if (row === undefined) {
      return { ok: false, why: "notFound" };
    }
    if (isChangedSince(row, args.since)) {
      return { ok: false, why: "changed" };
    }
    if (row.provider !== null) {
      return { ok: false, why: "ofProvider" };
    }
    if (args.ifHash !== undefined && args.ifHash !== row.password_hash) {
      return { ok: false, why: "passwordChanged" };
    }
    const changed = {
      ...row,
      password_hash: args.passwordHash,
      tokens_not_before: endOfLogins(row, context),
      kept_session: args.keptSession ?? null,
    };
    return writeUser(context, changed, args.dryRun);
  },

  /** Removes the user, which ends every login and frees the name and the certificate names. */
  async "users.remove"(
    context: TransactionContext,
    { name, dryRun, since }: { name: string } & ChangeMode<UserRecord>,
  ): Promise<RemovedUserResult> {
    const { db, nowMs } = context;
    const row = await userRow(db, name);
    if (row === undefined) {
      return { ok: false, why: "notFound" };
    }
    if (isChangedSince(row, since)) {
      return { ok: false, why: "changed" };
    }
    const removed = {
      ...row,
      password_hash: null,
      certificate_names: "[]",
      tokens_not_before: endOfLogins(row, context),
      kept_session: null,
      removed_at: nowMs,
    };
    if (await wouldEndAdmins(db, row, removed)) {
      return { ok: false, why: "lastAdmin" };
    }
    const ended =
      dryRun === true ? [] : await removeProviderSessions(db, (session) => session("user_id", "=", row.id));
    const result = await writeUser(context, removed, dryRun);
    return result.ok ? { ...result, ended } : result;
  },

  /** Returns the password hash of a user; undefined: no such user, null: no password. */
  async "users.passwordHash"(
    { db }: TransactionContext,
    { name }: { name: string },
  ): Promise<string | null | undefined> {
    return (await userRow(db, name))?.password_hash;
  },
};

/** Selects the users that are not removed. */
export function userRows(db: Kysely<Schema>) {
  return db.selectFrom("users").selectAll().where("removed_at", "is", null);
}

function userRow(db: Kysely<Schema>, name: string): Promise<UserRow | undefined> {
  return userRows(db).where("name", "=", name).executeTakeFirst();
}

function isChangedSince(row: UserRow, since: UserRecord | undefined): boolean {
  return since !== undefined && (since.id !== row.id || since.version !== row.version);
}

/** Adds a user. @param ofProvider where a user of an identity provider comes from */
export async function insertUser(
  context: TransactionContext,
  user: NewUser & DryRun,
  ofProvider: Pick<UserRow, "provider" | "subject"> = { provider: null, subject: null },
): Promise<UserResult> {
  const row: UserRow = {
    ...ofProvider,
    id: user.id,
    name: user.name,
    ...accessColumns(user),
    password_hash: user.passwordHash,
    certificate_names: JSON.stringify(user.certificateNames),
    tokens_not_before: context.nowMs,
    kept_session: null,
    created_at: context.nowMs,
    changed_at: context.nowMs,
    removed_at: null,
    version: 0,
  };
  if (user.dryRun !== true) {
    const version = await nextAuthVersion(context);
    await context.db
      .insertInto("users")
      .values({ ...row, version })
      .execute();
  }
  return { ok: true, user: recordFromRow(row) };
}

/** Writes a user as it is to be, unless it is a dry run. */
export async function writeUser(
  context: TransactionContext,
  { id, ...row }: UserRow,
  dryRun = false,
): Promise<UserResult> {
  const changed = { ...row, changed_at: context.nowMs };
  if (!dryRun) {
    const version = await nextAuthVersion(context);
    await context.db
      .updateTable("users")
      .set({ ...changed, version })
      .where("id", "=", id)
      .execute();
  }
  return { ok: true, user: recordFromRow({ id, ...changed }) };
}

/**
 * Returns the time up to which logins are invalid. It always increases, regardless of the clock, because `sessions.open` may
 * have dated a session one millisecond after the previous value.
 */
function endOfLogins(row: UserRow, { nowMs }: TransactionContext): number {
  return Math.max(nowMs, row.tokens_not_before + 1);
}

async function takenCertificateName(
  db: Kysely<Schema>,
  name: string,
  requested: readonly string[],
): Promise<UserRefusal | undefined> {
  if (requested.length === 0) {
    return undefined;
  }
  const others = await userRows(db).where("name", "!=", name).execute();
  const taken = new Set(others.flatMap((row) => recordFromRow(row).certificateNames));
  const certificateName = requested.find((one) => taken.has(one));
  return certificateName === undefined
    ? undefined
    : { ok: false, why: "certificateNameTaken", certificateName };
}

async function wouldEndAdmins(db: Kysely<Schema>, before: UserRow, after: UserRow): Promise<boolean> {
  if (!isFullAdmin(before) || isFullAdmin(after)) {
    return false;
  }
  const others = await userRows(db).where("id", "!=", before.id).execute();
  return !others.some(isFullAdmin);
}

/** Reports whether the user may administer everything, and is able to log in. */
function isFullAdmin(row: UserRow): boolean {
  const canLogIn = row.password_hash !== null || row.certificate_names !== "[]";
  const isUnlimited = row.services === null && row.grants === null;
  return row.removed_at === null && row.role === "admin" && isUnlimited && canLogIn;
}
