import { moduleUrl, ownMigrations, type ProgramModules } from "../store/program.ts";

/** The modules that the gateway's store runs. */
export const gatewayModules: ProgramModules = {
  transactions: moduleUrl("./store-transactions", import.meta.url),
  migrations: ownMigrations,
};
