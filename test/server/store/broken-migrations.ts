import type { Migration } from "../../../server/store/migrations/migration.ts";
import { migrations as newer } from "./newer-migrations.ts";

const fail: Migration = async () => {
  throw new Error("this migration fails");
};

export const migrations: readonly Migration[] = [...newer, fail];
