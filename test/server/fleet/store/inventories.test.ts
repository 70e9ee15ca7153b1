import { test } from "tap";
import { openOwnStore } from "../../store/own-store.ts";
import { addHost } from "./add-host.ts";

test("the resources of a host are stored until the host is removed", async (t) => {
  const store = await openOwnStore(t);
  const [one, two] = [await addHost(store, "node-1"), await addHost(store, "node-2")];
  const read = (hostId: string) => store.run("fleet.inventory", { hostId });
  const set = (hostId: string, atMs: number) =>
    store.run("fleet.setInventory", { hostId, inventory: { atMs, resources: [{ name: "volumes/a" }] } });
  t.equal(await read(one.id), undefined);
  for (const atMs of [1, 2]) {
    await set(one.id, atMs);
    await set(two.id, atMs);
    t.same(await read(one.id), { atMs, resources: [{ name: "volumes/a" }] });
  }
  await store.run("fleet.removeHost", { name: "node-1" });
  t.equal(await read(one.id), undefined);
  t.match(await read(two.id), { atMs: 2 });
  await set(one.id, 3);
  t.equal(await read(one.id), undefined, "what is stored late is not kept");
});
