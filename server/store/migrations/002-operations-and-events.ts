import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Creates the tables of operations, events and backups. */
export async function makeOperationsAndEvents(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await makeGateways(db, types);
  await makeOperations(db, types);
  await makeEvents(db, types);
  await makeBackups(db, types);
}

async function makeGateways(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("gateways")
    .addColumn("instance_id", text, (column) => column.primaryKey().notNull())
    .addColumn("host", text, (column) => column.notNull())
    .addColumn("seen_at", integer, (column) => column.notNull())
    .execute();
}

async function makeOperations(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, bytes } = types;
  await types
    .createCountedTable(db, "operations", "seq")
    .addColumn("id", text, (column) => column.notNull().unique())
    .addColumn("kind", text, (column) => column.notNull())
    .addColumn("resource", text, (column) => column.notNull())
    .addColumn("backend", text, (column) => column.notNull())
    .addColumn("system", text, (column) => column.notNull())
    .addColumn("host", text)
    .addColumn("rpc", text, (column) => column.notNull())
    .addColumn("actor", text, (column) => column.notNull())
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("attach_key", text)
    .addColumn("input_json", text, (column) => column.notNull())
    .addColumn("secrets_sealed", bytes)
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("message", text, (column) => column.notNull())
    .addColumn("waiting_for", text, (column) => column.notNull())
    .addColumn("progress_ppm", integer)
    .addColumn("done_bytes", integer)
    .addColumn("total_bytes", integer)
    .addColumn("step", text)
    .addColumn("attempt", integer, (column) => column.notNull())
    .addColumn("cancel_requested", integer, (column) => column.notNull())
    .addColumn("past_return", integer, (column) => column.notNull())
    .addColumn("error_json", text)
    .addColumn("attention_json", text)
    .addColumn("result_json", text)
    .addColumn("owner", text)
    .addColumn("fence", integer, (column) => column.notNull())
    .addColumn("lease_until", integer, (column) => column.notNull())
    .addColumn("not_before", integer, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("started_at", integer)
    .addColumn("ended_at", integer)
    .execute();
  const open = sql<boolean>`ended_at is null`;
  await db.schema
    .createIndex("operations_attach_key")
    .unique()
    .on("operations")
    .column("attach_key")
    .where(open)
    .execute();
  await db.schema.createIndex("operations_open").on("operations").column("seq").where(open).execute();
  await db.schema.createIndex("operations_ended_at").on("operations").column("ended_at").execute();
  await db.schema
    .createTable("operation_steps")
    .addColumn("operation_id", text, (column) => column.notNull())
    .addColumn("position", integer, (column) => column.notNull())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("attempt", integer, (column) => column.notNull())
    .addColumn("output_json", text)
    .addColumn("error", text)
    .addColumn("started_at", integer)
    .addColumn("ended_at", integer)
    .addPrimaryKeyConstraint("operation_steps_pk", ["operation_id", "position"])
    .execute();
  await types
    .createCountedTable(db, "operation_commands", "seq")
    .addColumn("operation_id", text, (column) => column.notNull())
    .addColumn("step", text, (column) => column.notNull())
    .addColumn("at", integer, (column) => column.notNull())
    .addColumn("argv_json", text, (column) => column.notNull())
    .addColumn("exit_code", integer)
    .addColumn("signal", text)
    .addColumn("duration_ms", integer, (column) => column.notNull())
    .addColumn("host", text, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("operation_commands_operation_id")
    .on("operation_commands")
    .columns(["operation_id", "seq"])
    .execute();
}

async function makeEvents(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer } = types;
  await types
    .createCountedTable(db, "events", "seq")
    .addColumn("at", integer, (column) => column.notNull())
    .addColumn("topic", text, (column) => column.notNull())
    .addColumn("type", text, (column) => column.notNull())
    .addColumn("resource", text, (column) => column.notNull())
    .addColumn("host", text, (column) => column.notNull())
    .addColumn("operation_id", text)
    .addColumn("services", text, (column) => column.notNull())
    .addColumn("payload_json", text, (column) => column.notNull())
    .execute();
  await db.schema.createIndex("events_at").on("events").column("at").execute();
  await db.schema
    .createIndex("events_operation_id")
    .on("events")
    .columns(["operation_id", "seq"])
    .where(sql<boolean>`operation_id is not null`)
    .execute();
  await db.schema
    .createTable("observed_states")
    .addColumn("source", text, (column) => column.primaryKey().notNull())
    .addColumn("version", integer, (column) => column.notNull())
    .addColumn("state_json", text, (column) => column.notNull())
    .addColumn("observed_at", integer, (column) => column.notNull())
    .execute();
  await sql`insert into meta (name, value) values ('event_epoch', ${randomUUID()}), ('events_gone_seq', '0')`.execute(
    db,
  );
}

async function makeBackups(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, bytes } = types;
  await types
    .createCountedTable(db, "backups", "seq")
    .addColumn("id", text, (column) => column.notNull().unique())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("volume", text, (column) => column.notNull())
    .addColumn("host", text, (column) => column.notNull())
    .addColumn("backend", text, (column) => column.notNull())
    .addColumn("volume_uuid", text, (column) => column.notNull())
    .addColumn("size_bytes", integer, (column) => column.notNull())
    .addColumn("at", integer, (column) => column.notNull())
    .addColumn("repository_json", text, (column) => column.notNull())
    .addColumn("snapshot_id", text, (column) => column.notNull())
    .addColumn("key_name", text)
    .addColumn("schedule", text)
    .addColumn("operation_id", text, (column) => column.notNull())
    .addColumn("actor", text, (column) => column.notNull())
    .addColumn("verified_at", integer)
    .addColumn("damage", text)
    .execute();
  await db.schema
    .createIndex("backups_name")
    .unique()
    .on("backups")
    .columns(["host", "volume", "name"])
    .execute();
  await db.schema
    .createTable("backup_requests")
    .addColumn("host", text, (column) => column.notNull())
    .addColumn("volume", text, (column) => column.notNull())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("operation_id", text, (column) => column.notNull())
    .addPrimaryKeyConstraint("backup_requests_pk", ["host", "volume", "name"])
    .execute();
  await db.schema
    .createTable("repository_keys")
    .addColumn("name", text, (column) => column.primaryKey().notNull())
    .addColumn("repository", text, (column) => column.notNull().unique())
    .addColumn("secret_sealed", bytes, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("repository_makings")
    .addColumn("repository", text, (column) => column.primaryKey().notNull())
    .addColumn("owner", text, (column) => column.notNull())
    .addColumn("lease_until", integer, (column) => column.notNull())
    .execute();
}
