import type { ProgramModules } from "../../../server/store/program.ts";
import { testModules } from "./store-under-test.ts";

const moduleUrl = (name: string) => new URL(name, import.meta.url).href;

/** A program of the next version, whose tables have had one migration more. */
export const newerModules: ProgramModules = {
  ...testModules,
  migrations: moduleUrl("./newer-migrations.ts"),
};

/** The same, but its migration fails halfway. */
export const brokenModules: ProgramModules = {
  ...testModules,
  migrations: moduleUrl("./broken-migrations.ts"),
};
