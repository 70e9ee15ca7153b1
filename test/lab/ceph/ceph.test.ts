import { setTimeout as sleep } from "node:timers/promises";
import tap, { test } from "tap";
import { createCeph } from "../../../adapters/ceph/ceph.ts";
import { operatorCapabilities, readerCapabilities } from "../../../adapters/ceph/inspect.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { testCephContract } from "../../adapters/ceph/contract.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { okOf, until } from "../../adapters/until-state.ts";
import { type CephCluster, cephSkipReason, makeCeph } from "./ceph.ts";

const skip = cephSkipReason();
tap.setTimeout(600_000);

const times = { watchedMs: 500, keepMs: 6_000, slowMs: 1_000, scrubsMs: 1_000 };
let cluster: Promise<CephCluster> | undefined;

/** A cluster for all tests. Disks in memory would lose their data when a daemon stops. */
function sharedCluster(): Promise<CephCluster> {
  cluster ??= makeCeph((destroy) => tap.teardown(destroy), {
    osds: 3,
    mgrs: 2,
    mdss: 2,
    store: "bluestore",
  }).then(async (ceph) => {
    await ceph.run("ceph", "osd", "pool", "create", "images", "4", "--size", "2");
    await ceph.run("rbd", "pool", "init", "images");
    for (const { pool_name } of JSON.parse(
      await ceph.run("ceph", "osd", "pool", "ls", "detail", "-f", "json"),
    )) {
      await ceph.run("ceph", "osd", "pool", "set", pool_name, "size", "2");
    }
    return ceph;
  });
  return cluster;
}

async function keysOf(ceph: CephCluster) {
  const reader = "client.hostplane";
  const operator = "client.hostplane-operator";
  return {
    reader: { user: reader, keyringPath: await ceph.makeKey(reader, capabilities(readerCapabilities)) },
    operator: {
      user: operator,
      keyringPath: await ceph.makeKey(operator, capabilities(operatorCapabilities)),
    },
  };
}

/** Splits a command as a shell does. */
function capabilities(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}

testCephContract(
  "real",
  async () => {
    const ceph = await sharedCluster();
    const keys = await keysOf(ceph);
    const { confPath } = ceph;
    const managers = ["mgr.a", "mgr.b"];
    return {
      ceph: createCeph({ confPath, ...keys, ...times }),
      withoutOperator: createCeph({ confPath, reader: keys.reader, ...times }),
      stopOsd: (id) => ceph.stop(`osd.${id}`),
      startOsd: (id) => ceph.start(`osd.${id}`),
      async crashOsd(id) {
        await ceph.crash(`osd.${id}`);
        await ceph.start(`osd.${id}`);
        const [newest] = JSON.parse(await ceph.run("ceph", "crash", "ls-new", "-f", "json")).reverse();
        return newest.crash_id;
      },
      stopManagers: async () => void (await Promise.all(managers.map((each) => ceph.stop(each)))),
      startManagers: async () => void (await Promise.all(managers.map((each) => ceph.start(each)))),
      async stopMonitors() {
        await ceph.stop("mon.a");
        await sleep(times.keepMs + 4_000);
      },
      startMonitors: () => ceph.start("mon.a"),
    };
  },
  { skip },
);

test("counts images and subvolumes, including those in namespaces and groups", { skip }, async (t) => {
  const ceph = await sharedCluster();
  const { reader } = await keysOf(ceph);
  const adapter = createCeph({ confPath: ceph.confPath, reader, ...times });
  t.teardown(() => adapter.close());
  await ceph.run("rbd", "namespace", "create", "images/tenant");
  for (const image of ["images/one", "images/two", "images/tenant/three"]) {
    await ceph.run("rbd", "create", image, "--size", "16M");
  }
  await ceph.run("rbd", "trash", "mv", "images/two");
  await ceph.run("ceph", "fs", "subvolumegroup", "create", "cephfs", "team");
  await ceph.run("ceph", "fs", "subvolume", "create", "cephfs", "home", "--group_name", "team");
  await ceph.run("ceph", "fs", "subvolume", "create", "cephfs", "scratch");
  await until(t, adapter, ({ rbdImageCount, subvolumeCount }) => {
    return okOf(rbdImageCount) === 2 && okOf(subvolumeCount) === 2;
  });
});

test("reports client traffic while it happens", { skip }, async (t) => {
  const ceph = await sharedCluster();
  const { reader } = await keysOf(ceph);
  const adapter = createCeph({ confPath: ceph.confPath, reader, ...times });
  t.teardown(() => adapter.close());
  const bench = ceph.run("rados", "bench", "-p", "images", "4", "write", "-b", "65536", "-t", "4");
  const busy = await until(t, adapter, ({ clientIo }) => okOf(clientIo).writesPerSecond > 0);
  t.ok(okOf(busy.clientIo).writeBytesPerSecond > 0);
  await bench;
  await until(t, adapter, ({ clientIo }) => okOf(clientIo).writesPerSecond === 0);
});

test("the active manager fails over, and no part is missing for long", { skip }, async (t) => {
  const ceph = await sharedCluster();
  const { reader } = await keysOf(ceph);
  const adapter = createCeph({ confPath: ceph.confPath, reader, ...times });
  t.teardown(() => adapter.close());
  const before = await until(t, adapter, ({ mgrs }) => okOf(mgrs).standbys.length === 1);
  const { active } = okOf(before.mgrs);
  await ceph.run("ceph", "mgr", "fail");
  const after = await until(
    t,
    adapter,
    ({ mgrs, crashes }) => okOf(mgrs).active !== active && okOf(mgrs).active !== undefined && "ok" in crashes,
  );
  t.ok((okOf(after.mgrs).activeChangedAtMs ?? 0) > (okOf(before.mgrs).activeChangedAtMs ?? 0));
});

test("a hanging manager affects only its own parts, and delays no others", { skip }, async (t) => {
  const ceph = await sharedCluster();
  const { reader } = await keysOf(ceph);
  const adapter = createCeph({ confPath: ceph.confPath, reader, ...times });
  t.teardown(() => adapter.close());
  const { mgrs } = await until(t, adapter, (state) => "ok" in state.crashes && "ok" in state.mgrs);
  const active = `mgr.${okOf(mgrs).active}`;
  const unsubscribe = adapter.subscribe(() => {});
  t.teardown(unsubscribe);
  await ceph.pause(active);
  t.teardown(() => ceph.resume(active));
  await until(t, adapter, ({ crashes }) => "missing" in crashes);
  const ages: number[] = [];
  for (let reads = 0; reads < 100; reads += 1) {
    const { readAtMs, value, staleBecause } = await adapter.read();
    ages.push(performance.now() - readAtMs);
    t.equal(staleBecause, undefined);
    t.ok("ok" in value.mons && "ok" in value.osds);
    await sleep(30);
  }
  t.comment(`oldest state: ${Math.round(Math.max(...ages))} ms`);
  t.ok(Math.max(...ages) < times.watchedMs + 10_000, "a read does not wait for the manager");
  await ceph.resume(active);
  await until(t, adapter, ({ crashes }) => "ok" in crashes);
});

test("hanging monitors do not block readers", { skip }, async (t) => {
  const ceph = await sharedCluster();
  const { reader } = await keysOf(ceph);
  const adapter = createCeph({ confPath: ceph.confPath, reader, ...times });
  t.teardown(() => adapter.close());
  await adapter.read();
  await ceph.pause("mon.a");
  t.teardown(() => ceph.resume("mon.a"));
  const pausedAtMs = performance.now();
  const tookMs: number[] = [];
  let reason: string | undefined;
  let wasReported = false;
  while (reason === undefined && performance.now() - pausedAtMs < 30_000) {
    const beganAtMs = performance.now();
    try {
      const { staleBecause } = await adapter.read();
      wasReported ||= staleBecause !== undefined;
    } catch (error) {
      reason = error instanceof InfraError ? error.reason : String(error);
    }
    tookMs.push(performance.now() - beganAtMs);
    await sleep(20);
  }
  t.equal(reason, "CEPH_UNAVAILABLE");
  t.ok(wasReported, "before that, the last state was reported as stale");
  t.ok(performance.now() - pausedAtMs < times.keepMs + 15_000);
  t.ok(Math.max(...tookMs) < 10_000);
  await ceph.resume("mon.a");
  const resumedAtMs = performance.now();
  await until(t, adapter, ({ crashes }) => "ok" in crashes);
  t.comment(`back after ${Math.round(performance.now() - resumedAtMs)} ms`);
});

test("a thousand reads a second cause one refresh every 2 s", { skip }, async (t) => {
  const ceph = await sharedCluster();
  const { reader } = await keysOf(ceph);
  const adapter = createCeph({ confPath: ceph.confPath, reader });
  t.teardown(() => adapter.close());
  const readings = new Set<number>();
  const tookMs: number[] = [];
  await adapter.read();
  const endAtMs = performance.now() + 5_000;
  while (performance.now() < endAtMs) {
    const beganAtMs = performance.now();
    for (let reads = 0; reads < 10; reads += 1) {
      readings.add((await adapter.read()).readAtMs);
    }
    tookMs.push((performance.now() - beganAtMs) / 10);
    await sleep(10);
  }
  t.ok(readings.size >= 1 && readings.size <= 4, `${readings.size} refreshes in 5 s`);
  const p99Ms = tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.99)] ?? 0;
  t.comment(`p99 of a read: ${p99Ms.toFixed(3)} ms`);
});

test("a key without access is rejected with the fix, and one with too much access is reported", {
  skip,
}, async (t) => {
  const ceph = await sharedCluster();
  const { confPath } = ceph;
  const adapterFor = (user: string, keyringPath?: string) => {
    const adapter = createCeph({ confPath, reader: { user, keyringPath }, ...times });
    t.teardown(() => adapter.close());
    return adapter;
  };
  const blind = adapterFor("client.blind", await ceph.makeKey("client.blind", ["mgr", "allow r"]));
  t.equal(await reasonOf(blind.read()), "CEPH_DENIED");
  t.match((await blind.inspect()).findings, [
    { ok: false, fix: /^ceph auth get-or-create client.blind mon/ },
  ]);

  const nobody = adapterFor("client.nobody");
  t.equal(await reasonOf(nobody.read()), "CEPH_DENIED");

  const { findings } = await adapterFor("client.admin").inspect();
  t.match(
    findings.filter(({ ok }) => !ok),
    [
      {
        what: /may change the cluster/,
        fix: /a user of its own: ceph auth get-or-create client.hostplane mon/,
      },
    ],
  );
});
