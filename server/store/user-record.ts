import type { Selectable } from "kysely";
import type { UsersTable } from "./schema.ts";

/** A user without the password's hash. */
export interface UserRecord {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Null: all. */
  readonly services: readonly string[] | null;
  readonly certificateNames: readonly string[];
  readonly hasPassword: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** The user to make. */
export interface NewUser {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly services: readonly string[] | null;
  readonly passwordHash: string | null;
  readonly certificateNames: readonly string[];
}

/** What to change of a user; what is undefined stays as it is. */
export interface UserChange {
  readonly role?: string | undefined;
  readonly services?: readonly string[] | null | undefined;
  readonly certificateNames?: readonly string[] | undefined;
}

/** Why a transaction changed nothing. */
export type UserRefusal =
  | { readonly ok: false; readonly why: "exists" | "notFound" | "lastAdmin" | "passwordChanged" }
  | { readonly ok: false; readonly why: "certificateNameTaken"; readonly certificateName: string };

/** The user as it is after the change, or why there was none. */
export type UserResult = { readonly ok: true; readonly user: UserRecord } | UserRefusal;

export type UserRow = Selectable<UsersTable>;

export function recordFromRow(row: UserRow): UserRecord {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    services: row.services === null ? null : JSON.parse(row.services),
    certificateNames: JSON.parse(row.certificate_names),
    hasPassword: row.password_hash !== null,
    createdAtMs: row.created_at,
    changedAtMs: row.changed_at,
  };
}
