import type { Selectable } from "kysely";
import type { UsersTable } from "./tables.ts";

/** A user, without the password hash. */
export interface UserRecord {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Services that the user may call. Null: all of them. */
  readonly services: readonly string[] | null;
  readonly certificateNames: readonly string[];
  readonly hasPassword: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** A user to create. */
export interface NewUser {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly services: readonly string[] | null;
  readonly passwordHash: string | null;
  readonly certificateNames: readonly string[];
}

/** Changes to a user; undefined fields stay unchanged. */
export interface UserChange {
  readonly role?: string | undefined;
  readonly services?: readonly string[] | null | undefined;
  readonly certificateNames?: readonly string[] | undefined;
}

/** Why a transaction changed nothing. */
export type UserRefusal =
  | { readonly ok: false; readonly why: "exists" | "notFound" | "lastAdmin" | "passwordChanged" }
  | { readonly ok: false; readonly why: "certificateNameTaken"; readonly certificateName: string };

/** The user after the change, or the reason for the refusal. */
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
