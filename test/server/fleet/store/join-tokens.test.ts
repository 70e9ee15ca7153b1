import { test } from "tap";
import { openStoreWithEvents } from "../../events/store-with-events.ts";

const codeHash = new Uint8Array(32).fill(1);
const newToken = { codeHash, host: null, labels: {}, createdBy: "test" };
const request = { codeHash, name: "node-1", certificateExpiresAtMs: 0 };

test("a host that repeats its request to join gets the same answer while the token is valid", async (t) => {
  const store = await openStoreWithEvents(t, {});
  await store.run("fleet.createToken", { ...newToken, lifetimeMs: 60_000 });
  const joined = { ok: true, name: "node-1" };
  t.same(await store.run("fleet.redeemToken", { ...request, id: "one" }), joined);
  t.same(await store.run("fleet.redeemToken", { ...request, name: "node-2", id: "one" }), joined);
  t.same(await store.run("fleet.redeemToken", { ...request, id: "two" }), { ok: false, why: "used" });
  await store.run("fleet.removeHost", { name: "node-1" });
  t.same(await store.run("fleet.redeemToken", { ...request, id: "one" }), { ok: false, why: "used" });
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 10 });
  t.same(
    rows.map(({ type }) => type),
    ["host.joined", "host.removed"],
  );
});

test("an expired token is refused, and its host cannot repeat its request either", async (t) => {
  const store = await openStoreWithEvents(t, {});
  await store.run("fleet.createToken", { ...newToken, lifetimeMs: -1 });
  t.same(await store.run("fleet.redeemToken", { ...request, id: "one" }), { ok: false, why: "expired" });
});
