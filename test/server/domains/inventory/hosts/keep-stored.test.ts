import { test } from "tap";
import { keepStored } from "../../../../../server/domains/inventory/hosts/keep-stored.ts";
import { readStoredRows } from "../../../../../server/domains/inventory/hosts/stored-rows.ts";
import type { InventoryRow } from "../../../../../server/domains/inventory/read-inventory.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { addHost } from "../../../fleet/store/add-host.ts";
import { until } from "../../../harness/until.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { resource } from "../resources.ts";

const rowsOf = (count: number, text = ""): InventoryRow[] =>
  Array.from({ length: count }, (_, index) => ({
    resource: resource(`volumes/${index}`, { labels: { text } }),
    domain: "volumes",
    host: "node-1",
    readAtMs: 0,
  }));

test("the states of connected hosts are stored again and again, if they have changed", async (t) => {
  const store = await openOwnStore(t);
  const { id } = await addHost(store, "node-1");
  const failures: unknown[] = [];
  let isAway = true;
  let writes = 0;
  const run = (async (name: "fleet.setInventory", args: never) => {
    if (name === "fleet.setInventory") {
      writes += 1;
      if (isAway) {
        throw new Error("the store is away");
      }
    }
    return await store.run(name, args);
  }) as Store["run"];
  let [rows, atMs] = [rowsOf(2), 1000];
  let reads = 0;
  const states = keepStored({
    store: { run },
    connected() {
      reads += 1;
      return [{ id, rows, atMs }];
    },
    onFailed: (error) => failures.push(error),
    everyMs: 5,
  });
  await until(() => failures.length > 0);
  isAway = false;
  const stored = async () => {
    const found = await readStoredRows(store, id);
    return found && [found.atMs, found.resources.map(({ name }) => name)];
  };
  await until(async () => (await stored()) !== undefined);
  t.same(await stored(), [1000, ["volumes/0", "volumes/1"]]);

  const [writesBefore, readsBefore] = [writes, reads];
  atMs = 2000;
  await until(() => reads > readsBefore + 5);
  t.equal(writes, writesBefore, "what has not changed is not stored again");
  rows = rowsOf(3);
  await until(() => writes > writesBefore);
  await until(async () => (await stored())?.[0] === 2000);

  rows = rowsOf(4);
  atMs = 3000;
  await states.close();
  t.same((await stored())?.[0], 3000, "what has changed is stored at the end");
});

test("a hub stores a limited number of the resources of a host", async (t) => {
  const store = await openOwnStore(t);
  const { id } = await addHost(store, "node-1");
  const states = keepStored({ store, connected: () => [], onFailed: (error) => t.fail(String(error)) });
  states.store({ id, rows: rowsOf(100, "x".repeat(10_000)), atMs: 1 });
  await states.close();
  const stored = await readStoredRows(store, id);
  t.ok(stored !== undefined && stored.resources.length > 10 && stored.resources.length < 60);
  t.equal(stored?.resources[0]?.labels.text?.length, 10_000);
});
