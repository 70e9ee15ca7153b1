import type { Test } from "tap";
import { openStore, type StoreOptions } from "../../../../server/store/open-store.ts";
import { ownMigrations } from "../../../../server/store/program.ts";
import { keepLog } from "../../store/store-under-test.ts";
import { resourceCount, type transactions } from "./list-transactions.ts";

/** Opens a store with many operations, and returns the database's plans for pages of those of one resource. */
export async function plansOfResource(t: Test, options: Pick<StoreOptions, "url" | "directory">) {
  const store = await openStore<typeof transactions>({
    kind: "real",
    keyCheck: "key-1",
    log: keepLog(),
    modules: {
      migrations: ownMigrations,
      transactions: new URL("./list-transactions.ts", import.meta.url).href,
    },
    ...options,
  });
  t.teardown(() => store.close());
  const isPostgres = options.url !== "sqlite";
  await store.run("list.fill", { count: 20 * resourceCount, isPostgres });
  const plans: string[] = [];
  for (const belowSeq of [undefined, 5_000]) {
    const page = { filters: { resource: "volumes/7" }, belowSeq, limit: 51 };
    plans.push((await store.run("list.explain", { ...page, isPostgres })).join("\n"));
  }
  return plans;
}
