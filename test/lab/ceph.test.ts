import { setTimeout as sleep } from "node:timers/promises";
import tap, { test } from "tap";
import { createCeph } from "../../adapters/ceph/ceph.ts";
import { operatorCapabilities, readerCapabilities } from "../../adapters/ceph/inspect.ts";
import { okOf, testCephContract, until } from "../adapters/ceph/contract.ts";
import { reasonOf } from "../adapters/host/reason-of.ts";
import { type CephCluster, cephSkipReason, makeCeph } from "./ceph.ts";

const skip = await cephSkipReason();
tap.setTimeout(600_000);

const times = { watchedMs: 500, keepMs: 6_000, slowMs: 1_000, scrubsMs: 1_000 };
let cluster: Promise<CephCluster> | undefined;

/** One for all tests. Disks in memory would forget when they are stopped. */
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

/** As a shell splits them. */
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

test("images and subvolumes are counted, those of namespaces and groups too", { skip }, async (t) => {
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

test("what clients do is told while they do it", { skip }, async (t) => {
  const ceph = await sharedCluster();
  const { reader } = await keysOf(ceph);
  const adapter = createCeph({ confPath: ceph.confPath, reader, ...times });
  t.teardown(() => adapter.close());
  const bench = ceph.run("rados", "bench", "-p", "images", "6", "write", "-b", "4096");
  const busy = await until(t, adapter, ({ clientIo }) => okOf(clientIo).writesPerSecond > 0);
  t.ok(okOf(busy.clientIo).writeBytesPerSecond > 0);
  await bench;
  await until(t, adapter, ({ clientIo }) => okOf(clientIo).writesPerSecond === 0);
});

test("the active manager fails over, and nothing is missing for long", { skip }, async (t) => {
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

test("a key that may not is refused with what to do, and one that may too much is told", {
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
    [{ what: /may change the cluster/, fix: /^ceph auth caps client.admin/ }],
  );
});
