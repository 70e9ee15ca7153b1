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

/** The gateway's own modules. The files end in `.ts` in the repository, and in `.js` in the built package. */
export const ownModules: ProgramModules = {
  transactions: siblingUrl("./transactions"),
  migrations: siblingUrl("./migrations/migrations"),
};

/** Returns the URL of a file next to this one; `path` has no extension. */
export function siblingUrl(path: string): string {
  return new URL(`${path}${extname(import.meta.url)}`, import.meta.url).href;
}

/** Imports the modules. */
export async function loadProgram(modules: ProgramModules): Promise<Program> {
  const { transactions } = (await import(modules.transactions)) as Pick<Program, "transactions">;
  const { migrations } = (await import(modules.migrations)) as Pick<Program, "migrations">;
  return { transactions, migrations };
}
