import { sql } from "kysely";
import type { Migration } from "../../../server/store/migrations/migration.ts";
import { migrations as released } from "../../../server/store/migrations/migrations.ts";

const addTable: Migration = async (db, { text }) => {
  await db.schema.createTable("newer").addColumn("id", text).execute();
  await sql`insert into meta (name, value) values ('migrated', '1')`.execute(db);
};

export const migrations: readonly Migration[] = [...released, addTable];
