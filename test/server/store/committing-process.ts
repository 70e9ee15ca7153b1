import { openStore } from "../../../server/store/open-store.ts";
import { keepLog, testModules } from "./store-under-test.ts";
import type { transactions } from "./test-transactions.ts";

/** Commits one transaction after the other. Arguments: the directory of the store, and how many. */
const [directory = "", count = "0"] = process.argv.slice(2);
const options = {
  url: "sqlite",
  directory,
  kind: "real",
  keyCheck: "k",
  log: keepLog(),
  modules: testModules,
} as const;
const store = await openStore<typeof transactions>(options);
for (let index = 0; index < Number(count); index += 1) {
  await store.run("counter.add", { name: `a${index % 10}`, by: 1 });
}
await store.close();
