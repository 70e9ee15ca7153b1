import { extname } from "node:path";
import type { Migration } from "./migrations/migration.ts";
import type { Transactions } from "./transaction.ts";

/** URLs of the modules that a store runs; it may load them in another thread. */
export interface ProgramModules {
  /** A module that exports `transactions`. */
  readonly transactions: string;
  /** A module that exports `migrations`. */
  readonly migrations: string;
}

/** Transactions and migrations of a store. */
export interface Program {
  readonly transactions: Transactions;
  readonly migrations: readonly Migration[];
}

/** The module of the store's migrations. */
export const ownMigrations = moduleUrl("./migrations/migrations", import.meta.url);

/**
 * Returns the URL of a module.
 * @param path relative to `base`, without an extension: modules end in `.ts` in the repository, and in `.js` in the package
 * @param base URL of the module that asks
 */
export function moduleUrl(path: string, base: string): string {
  return new URL(`${path}${extname(base)}`, base).href;
}

/** Imports the modules. */
export async function loadProgram(modules: ProgramModules): Promise<Program> {
  const { transactions } = (await import(modules.transactions)) as Pick<Program, "transactions">;
  const { migrations } = (await import(modules.migrations)) as Pick<Program, "migrations">;
  return { transactions, migrations };
}
