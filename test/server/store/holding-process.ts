import { openStore } from "../../../server/store/open-store.ts";
import { keepLog, testModules } from "./store-under-test.ts";
import type { transactions } from "./test-transactions.ts";

/** Writes once, prints a line, and keeps the store open until stdin ends. Argument: the directory of the store. */
const [directory = ""] = process.argv.slice(2);
const facts = { url: "sqlite", kind: "real", keyCheck: "key-1" } as const;
const store = await openStore<typeof transactions>({
  ...facts,
  directory,
  log: keepLog(),
  modules: testModules,
});
await store.run("counter.add", { name: "lane0", by: 1 });
process.stdin.on("end", () => store.close()).resume();
process.stdout.write("holds it\n");
