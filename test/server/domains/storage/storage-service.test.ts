import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { createCephSandbox } from "../../../../adapters/ceph/sandbox.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import {
  StorageService,
  WatchClusterStatsRequestSchema,
  type WatchClusterStatsResponse,
  WatchClusterStatsResponseSchema,
} from "../../../../gen/hostplane/v1/storage_pb.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { createStorageUnderTest } from "./storage-under-test.ts";

const { listPools, listOsds, listCrashes, archiveCrash, watchClusterStats } = StorageService.method;

test("pools are listed by name, with their usage", async (t) => {
  const ceph = createCephSandbox();
  const { call } = createStorageUnderTest(t, { ceph });
  const { message, headers } = await call(listPools);
  t.same(
    message.pools.map(({ name }) => name),
    ["cephfs.data", "cephfs.metadata", "default.rgw.data", "images"],
  );
  t.match(message.pools[3], {
    id: 1n,
    size: 3,
    minSize: 2,
    redundancy: 2,
    failureDomain: "host",
    applications: ["rbd"],
    objectCount: 51_200n,
    storedBytes: 200n << 30n,
    usedBytes: 600n << 30n,
    quotaBytes: undefined,
  });
  t.ok(message.pools.every(({ oldestScrubAt }) => oldestScrubAt !== undefined));
  t.equal(headers.get("hostplane-missing"), null);

  await ceph.setManagers(false);
  const partly = await call(listPools);
  t.match(partly.message.pools[3], { size: 3, objectCount: undefined, oldestScrubAt: undefined });
  t.equal(
    partly.headers.get("hostplane-missing"),
    "pools.object_count, pools.stored_bytes, pools.used_bytes, pools.available_bytes, pools.oldest_scrub_at, pools.oldest_deep_scrub_at",
  );

  await ceph.change((state) => ({ ...state, pools: { missing: "not today" } }));
  await t.rejects(call(listPools), {
    name: "InfraError",
    reason: "FIGURE_UNAVAILABLE",
    message: /pools: not today$/,
  });
});

test("OSDs are listed by id, with their usage", async (t) => {
  const ceph = createCephSandbox();
  const { call } = createStorageUnderTest(t, { ceph });
  await ceph.stopOsd(2);
  const { message } = await call(listOsds);
  t.same(
    message.osds.map(({ id, up }) => [id, up]),
    [0, 1, 2, 3, 4, 5].map((id) => [id, id !== 2]),
  );
  t.match(message.osds[1], {
    host: "sandbox-ceph-2",
    deviceClass: "ssd",
    totalBytes: 1n << 40n,
    pgCount: 72,
  });
  await ceph.setManagers(false);
  const partly = await call(listOsds);
  t.match(partly.message.osds[1], { host: "sandbox-ceph-2", totalBytes: undefined, pgCount: undefined });
  t.equal(
    partly.headers.get("hostplane-missing"),
    "osds.total_bytes, osds.used_bytes, osds.available_bytes, osds.pg_count",
  );
});

test("a crash is archived once, and from then on listed as archived", async (t) => {
  const ceph = createCephSandbox();
  const { call, planners } = createStorageUnderTest(t, { ceph });
  const id = await ceph.crash("osd.1");
  t.match((await call(listCrashes)).message.crashes, [{ id, entity: "osd.1", archived: false }]);

  const plan = await planners
    .find(({ service }) => service.typeName === StorageService.typeName)
    ?.plannerOf(archiveCrash)?.(create(archiveCrash.input, { id }), {
    signal: new AbortController().signal,
    peer: { lvmd: "backups" },
  });
  t.match(plan, {
    kind: "storage.archiveCrash",
    plan: { changes: [/no longer warns about it: osd\.1 on sandbox-ceph-1 crashed at /], losses: [] },
    steps: [{ name: "archive", command: ["ceph", "crash", "archive", id] }],
  });
  t.match((await call(listCrashes)).message.crashes, [{ archived: false }], "a plan changes nothing");

  const { message, resource } = await call(archiveCrash, { id });
  t.match(message.crash, { id, archived: true });
  t.match(resource, /^cephClusters\/[-0-9a-f]{36}\/crashes\//);
  t.same((await call(listCrashes)).message.crashes, []);
  t.match((await call(listCrashes, { archived: true })).message.crashes, [{ id, archived: true }]);
  t.match(
    (await call(archiveCrash, { id })).message.crash,
    { archived: true },
    "archiving again changes nothing",
  );
});

test("without the crash or the operator key, archiving and its plan fail", async (t) => {
  const { call } = createStorageUnderTest(t, { ceph: createCephSandbox() });
  await t.rejects(call(archiveCrash, { id: "none" }), { name: "InfraError", reason: "CRASH_NOT_FOUND" });
  for (const id of ["", "a b", "a/b", "-h", "a\nb", "é", "a".repeat(129)]) {
    await t.rejects(call(archiveCrash, { id }), { name: "InfraError", reason: "INVALID_FIELD" }, id);
  }

  const ceph = createCephSandbox({ hasOperator: false });
  const reader = createStorageUnderTest(t, { ceph });
  const id = await ceph.crash("osd.1");
  await t.rejects(reader.call(archiveCrash, { id }), { name: "InfraError", reason: "CEPH_OPERATOR_MISSING" });
  const planner = reader.planners[0]?.plannerOf(archiveCrash);
  const requester = { signal: new AbortController().signal, peer: { lvmd: "backups" } } as const;
  await t.rejects(async () => planner?.(create(archiveCrash.input, { id }), requester), {
    name: "InfraError",
    reason: "CEPH_OPERATOR_MISSING",
  });
});

test("a watcher gets the state at once, then each change, missing fields, and staleness", async (t) => {
  const ceph = createCephSandbox();
  const { handlerOf } = createStorageUnderTest(t, { ceph });
  const ending = new AbortController();
  const call = createCall({ method: watchClusterStats, ending });
  const stream = handlerOf(watchClusterStats)(create(WatchClusterStatsRequestSchema), call);
  const messages = (stream as AsyncIterable<object>)[Symbol.asyncIterator]();
  const next = async (): Promise<WatchClusterStatsResponse> =>
    create(WatchClusterStatsResponseSchema, (await messages.next()).value);

  const first = await next();
  t.match(first, { stats: { status: "HEALTH_OK" }, radar: { clusterHealth: 100 }, staleBecause: "" });
  t.match(first, { healthChecks: [], recovery: { bytesPerSecond: 0, objectsPerSecond: 0 } });
  t.same(first.missing, []);
  t.ok(first.readAt !== undefined && Math.abs(timestampMs(first.readAt) - Date.now()) < 5_000);

  const second = next();
  await ceph.stopOsd(0);
  t.match(await second, {
    stats: { status: "HEALTH_WARN", services: { osd: { osdUp: 5 } } },
    healthChecks: [{ code: "OSD_DOWN", severity: "HEALTH_WARN", summary: "1 osds down", muted: false }],
  });

  const clamped = next();
  await ceph.change((state) => ({ ...state, objects: { ok: { count: 2 ** 31, storedBytes: 1n << 50n } } }));
  t.strictSame((await clamped).clamped, ["data.objects.object_count"]);

  const third = next();
  await ceph.setManagers(false);
  const { radar, missing, recovery } = await third;
  t.equal(radar, undefined);
  t.equal(recovery, undefined);
  t.ok(missing.some(({ field }) => field === "recovery"));
  t.match(missing[0], { field: "crashes", reason: "no manager is active" });
  t.ok(missing.some(({ field }) => field === "radar.stability"));

  const fourth = next();
  await ceph.setOutage(new InfraError(cephReasons.CEPH_UNAVAILABLE, "the monitors are away"));
  t.match(await fourth, { staleBecause: "the monitors are away", stats: { status: "HEALTH_WARN" } });

  const end = messages.next();
  ending.abort(new InfraError(hostReasons.CALLER_LEFT, "left"));
  t.match(await end, { done: true });
});

test("watchers within one second share one message per state", async (t) => {
  const ceph = createCephSandbox();
  const { handlerOf } = createStorageUnderTest(t, { ceph });
  const ending = new AbortController();
  t.teardown(() => ending.abort());
  const watching = () => {
    const call = createCall({ method: watchClusterStats, ending });
    const stream = handlerOf(watchClusterStats)(create(WatchClusterStatsRequestSchema), call);
    return (stream as AsyncIterable<object>)[Symbol.asyncIterator]();
  };
  const watcher = watching();
  // A second may end between two of the watchers, but not between all.
  const reported = await Promise.all(
    [watcher, watching(), watching()].map(async (one) => (await one.next()).value),
  );
  t.match(reported[0], { stats: { status: "HEALTH_OK" } });
  t.ok(new Set(reported).size < 3);
  const changed = watcher.next();
  await ceph.stopOsd(0);
  t.notOk(reported.includes((await changed).value), "another state has another message");
});

test("callers share one message per state, with and without archived crashes", async (t) => {
  const ceph = createCephSandbox();
  const { call } = createStorageUnderTest(t, { ceph });
  const id = await ceph.crash("osd.1");
  await ceph.archiveCrash(id);
  for (const method of [listPools, listOsds, listCrashes]) {
    const { message } = await call(method);
    t.equal((await call(method)).message, message, method.name);
  }
  t.equal((await call(listCrashes, { archived: true })).message.crashes.length, 1);
  t.equal((await call(listCrashes)).message.crashes.length, 0);
  const { message } = await call(listOsds);
  await ceph.stopOsd(1);
  t.not((await call(listOsds)).message, message);
  await ceph.setManagers(false);
  await call(listOsds);
  const again = await call(listOsds);
  t.match(again.headers.get("hostplane-missing"), /^osds\.total_bytes, /, "also for the second caller");
});
