import { migrations } from "../../../server/store/migrations/migrations.ts";
import type { ProgramModules } from "../../../server/store/program.ts";
import { testModules } from "./store-under-test.ts";

const moduleUrl = (name: string) => new URL(name, import.meta.url).href;

/** Schema version of the next version of the program. */
export const newerVersion = migrations.length + 1;

/** A program of the next version, with one more migration. */
export const newerModules: ProgramModules = {
  ...testModules,
  migrations: moduleUrl("./newer-migrations.ts"),
};

/** The same, with a migration that fails halfway. */
export const brokenModules: ProgramModules = {
  ...testModules,
  migrations: moduleUrl("./broken-migrations.ts"),
};
