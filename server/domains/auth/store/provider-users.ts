import type { TransactionContext } from "../../../store/transaction.ts";
import type { AccountAccess } from "../access/account-grants.ts";
import { accessColumns, type UserRow } from "./user-record.ts";
import { insertUser, userRows, writeUser } from "./users.ts";

/** A user as an identity provider has confirmed it. */
export interface ConfirmedUser {
  readonly provider: string;
  readonly subject: string;
  /** ID of the user, if it is new. */
  readonly newUserId: string;
  /** Names of the user, if it is new: the first one that is free. */
  readonly names: readonly string[];
  readonly access: AccountAccess;
}

/** Returns the user of a provider with its current access. Creates it at its first login, with the first of the names that is free. */
export async function upsertProviderUser(
  context: TransactionContext,
  { provider, subject, newUserId, names, access }: ConfirmedUser,
): Promise<{ readonly id: string; readonly name: string }> {
  const row = await userRows(context.db)
    .where("provider", "=", provider)
    .where("subject", "=", subject)
    .executeTakeFirst();
  if (row !== undefined) {
    await setAccess(context, row, access);
    return row;
  }
  const taken = await userRows(context.db).select("name").where("name", "in", names).execute();
  const name = names.find((one) => !taken.some((other) => other.name === one));
  if (name === undefined) {
    throw new Error(`every name of the user ${subject} of ${provider} is taken`);
  }
  const created = { ...access, id: newUserId, name, passwordHash: null, certificateNames: [] };
  await insertUser(context, created, { provider, subject });
  return created;
}

/** Sets what a user may do. Returns whether that has changed. */
export async function setProviderUserAccess(
  context: TransactionContext,
  userId: string,
  access: AccountAccess,
): Promise<boolean> {
  const row = await userRows(context.db).where("id", "=", userId).executeTakeFirst();
  return row !== undefined && (await setAccess(context, row, access));
}

async function setAccess(context: TransactionContext, row: UserRow, access: AccountAccess): Promise<boolean> {
  const { role, services, grants } = accessColumns(access);
  if (row.role === role && row.services === services && row.grants === grants) {
    return false;
  }
  await writeUser(context, { ...row, role, services, grants });
  return true;
}
