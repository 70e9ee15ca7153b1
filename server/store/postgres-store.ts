import type { Expectations } from "./database-facts.ts";
import type { ProgramModules } from "./program.ts";
import type { Store } from "./store.ts";
import type { StoreLog } from "./store-log.ts";
import type { Transactions } from "./transaction.ts";

/** What `openPostgresStore` needs. */
export interface PostgresStoreOptions {
  readonly url: string;
  readonly expectations: (shownAs: string) => Expectations;
  readonly modules: ProgramModules;
  readonly log: StoreLog;
}

export async function openPostgresStore<T extends Transactions>(_: PostgresStoreOptions): Promise<Store<T>> {
  throw new Error("not yet");
}
