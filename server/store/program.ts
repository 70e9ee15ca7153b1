import { extname } from "node:path";
import type { Migration } from "./migrations/migration.ts";
import type { Transactions } from "./transaction.ts";

/** Where a store finds what it runs: URLs, since the thread that runs it may be another. */
export interface ProgramModules {
  /** A module that exports `transactions`. */
  readonly transactions: string;
  /** A module that exports `migrations`. */
  readonly migrations: string;
}

/** What a store runs. */
export interface Program {
  readonly transactions: Transactions;
  readonly migrations: readonly Migration[];
}

/** The gateway's own. The files end in `.ts` in the repository, and in `.js` in the built package. */
export const ownModules: ProgramModules = {
  transactions: siblingUrl("./transactions"),
  migrations: siblingUrl("./migrations/migrations"),
};

/** URL of a file beside this one, given without its ending. */
export function siblingUrl(path: string): string {
  return new URL(`${path}${extname(import.meta.url)}`, import.meta.url).href;
}

/** Imports the modules. */
export async function loadProgram(modules: ProgramModules): Promise<Program> {
  const { transactions } = (await import(modules.transactions)) as Pick<Program, "transactions">;
  const { migrations } = (await import(modules.migrations)) as Pick<Program, "migrations">;
  return { transactions, migrations };
}
