import type { Selectable } from "kysely";
import type { Grant } from "../../../rpc/access/grant.ts";
import type { EndedProviderSession } from "./sessions.ts";
import type { UsersTable } from "./tables.ts";

/** A user, without the password hash. */
export interface UserRecord {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Services that the user may call. Null: all of them. */
  readonly services: readonly string[] | null;
  /** Null: role and services decide. */
  readonly grants: readonly Grant[] | null;
  readonly certificateNames: readonly string[];
  readonly hasPassword: boolean;
  /** Name of the identity provider that the user logs in by; null for a local user. */
  readonly provider: string | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** Increases with every change of the user. After a dry run it is the one before. */
  readonly version: number;
}

/** A user to create. */
export interface NewUser {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly services: readonly string[] | null;
  /** Null or absent: role and services decide. */
  readonly grants?: readonly Grant[] | null;
  readonly passwordHash: string | null;
  readonly certificateNames: readonly string[];
}

/** Changes to a user; undefined fields stay unchanged. */
export interface UserChange {
  readonly role?: string | undefined;
  readonly services?: readonly string[] | null | undefined;
  /** Null removes them. A change of role or services alone is refused for a user with grants. */
  readonly grants?: readonly Grant[] | null | undefined;
  readonly certificateNames?: readonly string[] | undefined;
}

/** Why a transaction changed nothing. */
export type UserRefusal =
  | {
      readonly ok: false;
      readonly why:
        | "exists"
        | "notFound"
        | "changed"
        | "lastAdmin"
        | "passwordChanged"
        | "hasGrants"
        | "ofProvider";
    }
  | { readonly ok: false; readonly why: "certificateNameTaken"; readonly certificateName: string };

/** The user after the change, or the reason for the refusal. */
export type UserResult = { readonly ok: true; readonly user: UserRecord } | UserRefusal;

/** The removed user and its sessions at a provider, or the reason for the refusal. */
export type RemovedUserResult =
  | { readonly ok: true; readonly user: UserRecord; readonly ended: readonly EndedProviderSession[] }
  | UserRefusal;

export type UserRow = Selectable<UsersTable>;

/** Returns what a user may do in the form of its columns. */
export function accessColumns({
  role,
  services,
  grants = null,
}: Pick<NewUser, "role" | "services" | "grants">): Pick<UserRow, "role" | "services" | "grants"> {
  return { role, services: jsonOrNull(services), grants: jsonOrNull(grants) };
}

/** Returns a list as its column stores it: null means all services, or no grants. */
export function jsonOrNull(list: readonly unknown[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}

/** Converts a row. Of the password only its existence is kept. */
export function recordFromRow(row: UserRow): UserRecord {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    services: row.services === null ? null : JSON.parse(row.services),
    grants: row.grants === null ? null : JSON.parse(row.grants),
    certificateNames: JSON.parse(row.certificate_names),
    hasPassword: row.password_hash !== null,
    provider: row.provider,
    createdAtMs: row.created_at,
    changedAtMs: row.changed_at,
    version: row.version,
  };
}
