import { openProcessStore } from "./store-under-test.ts";

/** Commits one transaction after the other. Arguments: the directory of the store, and how many. */
const [directory = "", count = "0"] = process.argv.slice(2);
const store = await openProcessStore(directory);
for (let index = 0; index < Number(count); index += 1) {
  await store.run("counter.add", { name: `a${index % 10}`, by: 1 });
}
await store.close();
