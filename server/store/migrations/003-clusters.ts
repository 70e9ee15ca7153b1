import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Creates the tables of Kubernetes clusters, and the installation ID that marks machines as this store's. */
export async function makeClusters(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await createClusters(db, types);
  await makeSlots(db, types);
  const installationId = randomBytes(8).toString("hex");
  await sql`insert into meta (name, value) values ('cluster_installation', ${installationId}), ('cluster_sequence', '0')`.execute(
    db,
  );
}

async function createClusters(db: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("clusters")
    .addColumn("name", text, (column) => column.primaryKey().notNull())
    .addColumn("uid", text, (column) => column.notNull().unique())
    .addColumn("backend", text, (column) => column.notNull())
    .addColumn("generation", integer, (column) => column.notNull())
    .addColumn("k8s_version", text, (column) => column.notNull())
    .addColumn("control_plane_version", text, (column) => column.notNull())
    .addColumn("control_plane_count", integer, (column) => column.notNull())
    .addColumn("control_plane_type", text, (column) => column.notNull())
    .addColumn("endpoint", text, (column) => column.unique())
    .addColumn("secrets_version", integer, (column) => column.notNull())
    .addColumn("is_deleting", integer, (column) => column.notNull())
    .addColumn("status", text, (column) => column.notNull())
    .addColumn("message", text, (column) => column.notNull())
    .addColumn("settled_generation", integer, (column) => column.notNull())
    .addColumn("has_run", integer, (column) => column.notNull())
    .addColumn("actor", text, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("owner", text)
    .addColumn("fence", integer, (column) => column.notNull())
    .addColumn("lease_until", integer, (column) => column.notNull())
    .addColumn("due_at", integer, (column) => column.notNull())
    // Large columns come last: SQLite reads a row from its start, and can stop before them.
    .addColumn("control_plane_labels_json", text, (column) => column.notNull())
    .addColumn("secrets_sealed", bytes, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("cluster_pools")
    .addColumn("cluster", text, (column) => column.notNull())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("position", integer, (column) => column.notNull())
    .addColumn("instance_type", text, (column) => column.notNull())
    .addColumn("labels_json", text, (column) => column.notNull())
    .addColumn("count", integer, (column) => column.notNull())
    .addPrimaryKeyConstraint("cluster_pools_pk", ["cluster", "name"])
    .execute();
}

async function makeSlots(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer } = types;
  await types
    .createCountedTable(db, "cluster_slots", "seq")
    .addColumn("uid", text, (column) => column.notNull().unique())
    .addColumn("cluster", text, (column) => column.notNull())
    .addColumn("cluster_uid", text, (column) => column.notNull())
    .addColumn("pool", text)
    .addColumn("instance_type", text, (column) => column.notNull())
    .addColumn("labels_json", text, (column) => column.notNull())
    .addColumn("k8s_version", text, (column) => column.notNull())
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("candidate_id", text)
    .addColumn("system_id", text)
    .addColumn("hostname", text)
    .addColumn("ip_address", text)
    .addColumn("sequence", integer, (column) => column.notNull())
    .addColumn("message", text, (column) => column.notNull())
    .addColumn("reason", text, (column) => column.notNull())
    .addColumn("attempts", integer, (column) => column.notNull())
    .addColumn("next_try_at", integer, (column) => column.notNull())
    .addColumn("state_since", integer, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .execute();
  const isLive = sql<boolean>`state <> 'released'`;
  await db.schema
    .createIndex("cluster_slots_machine")
    .unique()
    .on("cluster_slots")
    .column("system_id")
    .where(isLive)
    .execute();
  await db.schema
    .createIndex("cluster_slots_live")
    .on("cluster_slots")
    .columns(["cluster_uid", "seq"])
    .where(isLive)
    .execute();
  await db.schema
    .createIndex("cluster_slots_cluster_uid")
    .on("cluster_slots")
    .columns(["cluster_uid", "seq"])
    .execute();
  await db.schema
    .createIndex("cluster_slots_candidate_id")
    .on("cluster_slots")
    .column("candidate_id")
    .execute();
  await db.schema.createIndex("cluster_slots_system_id").on("cluster_slots").column("system_id").execute();
  await types
    .createCountedTable(db, "cluster_machine_events", "seq")
    .addColumn("at", integer, (column) => column.notNull())
    .addColumn("cluster", text, (column) => column.notNull())
    .addColumn("slot_uid", text, (column) => column.notNull())
    .addColumn("system_id", text)
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("is_failure", integer, (column) => column.notNull())
    .addColumn("message", text, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("cluster_machine_events_slot_uid")
    .on("cluster_machine_events")
    .columns(["slot_uid", "seq"])
    .execute();
  await db.schema
    .createIndex("cluster_machine_events_system_id")
    .on("cluster_machine_events")
    .columns(["system_id", "at"])
    .execute();
  await db.schema
    .createIndex("cluster_machine_events_at")
    .on("cluster_machine_events")
    .column("at")
    .execute();
}
