import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Creates the first tables of `schema.ts`. `meta` is not among them; it is created with the database. */
export async function makeFirstTables(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await makeAccounts(db, types);
  await makeSessions(db, types);
  await makeAudit(db, types);
  await makeCalls(db, types);
}

async function makeAccounts(db: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("users")
    .addColumn("id", text, (column) => column.primaryKey().notNull())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("role", text, (column) => column.notNull())
    .addColumn("services", text)
    .addColumn("password_hash", text)
    .addColumn("certificate_names", text, (column) => column.notNull())
    .addColumn("tokens_not_before", integer, (column) => column.notNull())
    .addColumn("kept_session", text)
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("changed_at", integer, (column) => column.notNull())
    .addColumn("removed_at", integer)
    .addColumn("version", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("users_name")
    .unique()
    .on("users")
    .column("name")
    .where(sql<boolean>`removed_at is null`)
    .execute();
  await db.schema.createIndex("users_version").on("users").column("version").execute();
  await db.schema
    .createTable("api_tokens")
    .addColumn("id", text, (column) => column.primaryKey().notNull())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("hash", bytes, (column) => column.notNull().unique())
    .addColumn("role", text, (column) => column.notNull())
    .addColumn("services", text)
    .addColumn("created_by", text, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("expires_at", integer)
    .addColumn("last_used_at", integer)
    .addColumn("revoked_at", integer)
    .addColumn("version", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("api_tokens_name")
    .unique()
    .on("api_tokens")
    .column("name")
    .where(sql<boolean>`revoked_at is null`)
    .execute();
  await db.schema.createIndex("api_tokens_version").on("api_tokens").column("version").execute();
}

async function makeSessions(db: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("signing_keys")
    .addColumn("id", text, (column) => column.primaryKey().notNull())
    .addColumn("secret_sealed", bytes, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("retired_at", integer)
    .addColumn("verify_until", integer)
    .addColumn("version", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("revocations")
    .addColumn("jti", text, (column) => column.primaryKey().notNull())
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("expires_at", integer, (column) => column.notNull())
    .addColumn("version", integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex("revocations_version").on("revocations").column("version").execute();
  await db.schema.createIndex("revocations_expires_at").on("revocations").column("expires_at").execute();
  await db.schema
    .createTable("login_failures")
    .addColumn("key", text, (column) => column.primaryKey().notNull())
    .addColumn("failures", integer, (column) => column.notNull())
    .addColumn("blocked_until", integer, (column) => column.notNull())
    .addColumn("last_failure_at", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("login_failures_last_failure_at")
    .on("login_failures")
    .column("last_failure_at")
    .execute();
}

async function makeAudit(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer } = types;
  await types
    .createCountedTable(db, "audit_events", "seq")
    .addColumn("at", integer, (column) => column.notNull())
    .addColumn("ended_at", integer)
    .addColumn("actor", text, (column) => column.notNull())
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("credential", text, (column) => column.notNull())
    .addColumn("address", text, (column) => column.notNull())
    .addColumn("listener", text, (column) => column.notNull())
    .addColumn("rpc", text, (column) => column.notNull())
    .addColumn("resource", text)
    .addColumn("code", text)
    .addColumn("reason", text)
    .addColumn("operation_id", text)
    .addColumn("request_id", text, (column) => column.notNull())
    .addColumn("request_json", text)
    .addColumn("backend", text, (column) => column.notNull())
    .addColumn("count", integer, (column) => column.notNull().defaultTo(1))
    .addColumn("sum_key", text, (column) => column.unique())
    .addColumn("instance_id", text, (column) => column.notNull())
    .addColumn("host", text, (column) => column.notNull())
    .execute();
  await db.schema.createIndex("audit_events_at").on("audit_events").column("at").execute();
  await db.schema.createIndex("audit_events_actor").on("audit_events").columns(["actor", "seq"]).execute();
}

async function makeCalls(db: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("idempotency_keys")
    .addColumn("caller", text, (column) => column.notNull())
    .addColumn("method", text, (column) => column.notNull())
    .addColumn("key_hash", bytes, (column) => column.notNull())
    .addColumn("request_hash", bytes, (column) => column.notNull())
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("instance_id", text, (column) => column.notNull())
    .addColumn("lease_until", integer, (column) => column.notNull())
    .addColumn("result_sealed", bytes)
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("expires_at", integer, (column) => column.notNull())
    .addPrimaryKeyConstraint("idempotency_keys_pk", ["caller", "method", "key_hash"])
    .execute();
  await db.schema
    .createIndex("idempotency_keys_expires_at")
    .on("idempotency_keys")
    .column("expires_at")
    .execute();
}
