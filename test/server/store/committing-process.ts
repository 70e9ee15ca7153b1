import { openProcessStore } from "./store-under-test.ts";

/** Commits transactions one after another. Arguments: the directory of the store, and the number of transactions. */
const [directory = "", count = "0"] = process.argv.slice(2);
const store = await openProcessStore(directory);
for (let index = 0; index < Number(count); index += 1) {
  await store.run("counter.add", { name: `a${index % 10}`, by: 1 });
}
await store.close();
