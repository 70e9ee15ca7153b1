import { randomBytes } from "node:crypto";
import { type Test, test } from "tap";
import { openHubHosts } from "../../../../server/fleet/hub/hub-hosts.ts";
import { createSeenHosts } from "../../../../server/fleet/hub/seen-hosts.ts";
import type { Store } from "../../../../server/store/store.ts";
import { until } from "../../harness/until.ts";
import { openOwnStore } from "../../store/own-store.ts";

const lifetimeMs = 3_600_000;
const fail = (error: unknown) => {
  throw error;
};

test("a hub reads those hosts that have changed, and is called for changes only", async (t) => {
  const { store, calls } = await storeUnderTest(t);
  const ids = await addHosts(store, 50);
  const hosts = await openHubHosts(store, fail);
  let changes = 0;
  hosts.onChange(() => {
    changes += 1;
  });
  const readHosts = () =>
    calls.flatMap(({ name, args }) => (name === "fleet.hosts" ? [args.ids as readonly string[]] : []));
  t.equal(readHosts()[0]?.length, 50, "all of them at the start");

  await store.run("fleet.noteSeen", { hosts: ids.map((id) => ({ id })) });
  await until(() => hosts.list().every(({ lastSeenAtMs }) => lastSeenAtMs !== undefined));
  t.equal(readHosts().length, 1, "a sign of life is no change");
  t.equal(changes, 0);

  await store.run("fleet.noteSeen", { hosts: [{ id: ids[7] ?? "", report: "{}" }] });
  await until(() => hosts.find("node-7")?.report === "{}");
  await store.run("fleet.setLabels", { name: "node-8", labels: { rack: "a" } });
  await until(() => hosts.find("node-8")?.labels.rack === "a");
  await store.run("fleet.noteCertificate", { id: ids[9] ?? "", expiresAtMs: 1 });
  await until(() => hosts.find("node-9")?.certificateExpiresAtMs === 1);
  t.same(readHosts().slice(1), [[ids[7]], [ids[8]], [ids[9]]]);
  await store.run("fleet.removeHost", { name: "node-10" });
  await until(() => hosts.find("node-10") === undefined);
  t.equal(readHosts().length, 4);
  t.equal(changes, 4);
  t.equal(hosts.list().length, 49);
  hosts.close();
});

test("what is noted of a removed host does not change the next one of its name", async (t) => {
  const { store } = await storeUnderTest(t);
  const [earlier = ""] = await addHosts(store, 1);
  const hosts = await openHubHosts(store, fail);
  await store.run("fleet.removeHost", { name: "node-0" });
  const [later = ""] = await addHosts(store, 1);
  await store.run("fleet.noteSeen", { hosts: [{ id: earlier, report: "{}" }] });
  t.same(await store.run("fleet.noteCertificate", { id: earlier, expiresAtMs: 1 }), { isKnown: false });
  await hosts.refresh();
  const record = hosts.find("node-0");
  t.match(record, { id: later, lastSeenAtMs: undefined, report: undefined });
  t.ok((record?.certificateExpiresAtMs ?? 0) > 1);
  hosts.close();
});

test("what many hosts report at once is stored in one transaction", async (t) => {
  const { store, calls } = await storeUnderTest(t);
  const ids = await addHosts(store, 50);
  const seen = createSeenHosts({ store, everyMs: lifetimeMs, onFailed: fail });
  for (const id of ids) {
    seen.note(id, `{"version":"${id}"}`);
    seen.note(id, undefined);
  }
  const hosts = await openHubHosts(store, fail);
  await until(() => hosts.list().every(({ id, report }) => report === `{"version":"${id}"}`));
  t.equal(calls.filter(({ name }) => name === "fleet.noteSeen").length, 1);
  for (const id of ids) {
    seen.note(id, undefined);
  }
  await seen.close();
  const writes = calls.filter(({ name }) => name === "fleet.noteSeen").map(({ args }) => args.hosts);
  t.same(writes.slice(1), [ids.map((id) => ({ id }))], "hosts without a new report are stored at the end");
  hosts.close();
});

interface StoreCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A real store, and the calls that were made of it. */
async function storeUnderTest(
  t: Test,
): Promise<{ readonly store: Store; readonly calls: readonly StoreCall[] }> {
  const opened = await openOwnStore(t);
  const calls: StoreCall[] = [];
  const run: Store["run"] = (name, ...args) => {
    calls.push({ name, args: args[0] as StoreCall["args"] });
    return opened.run(name, ...args);
  };
  return { store: { ...opened, run }, calls };
}

/** Adds hosts `node-0`, `node-1` and so on. Returns their IDs. */
async function addHosts(store: Store, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const codeHash = new Uint8Array(randomBytes(32));
    const id = randomBytes(8).toString("hex");
    await store.run("fleet.createToken", { codeHash, host: null, labels: {}, createdBy: "test", lifetimeMs });
    const certificateExpiresAtMs = Date.now() + lifetimeMs;
    await store.run("fleet.redeemToken", { codeHash, name: `node-${at}`, id, certificateExpiresAtMs });
    ids.push(id);
  }
  return ids;
}
