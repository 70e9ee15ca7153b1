import { type Test, test } from "tap";
import type { CephReader } from "../../../../../adapters/ceph/adapter.ts";
import { cephReasons } from "../../../../../adapters/ceph/reasons.ts";
import { type CephSandbox, createCephSandbox } from "../../../../../adapters/ceph/sandbox.ts";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { observeStorageChanges } from "../../../../../server/domains/storage/events/storage-observer.ts";
import type { SystemObserver } from "../../../../../server/events/observe-system.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { untilPublished, untilVersion } from "../../volumes/events/observer-under-test.ts";

const outage = new InfraError(cephReasons.CEPH_UNAVAILABLE, "the monitors do not answer");

/** Creates a cluster that is refreshed often while it has watchers. */
function makeCeph(t: Test): CephSandbox {
  const ceph = createCephSandbox({ watchedMs: 20 });
  // The timers of the sandbox do not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(async () => {
    clearInterval(alive);
    await ceph.close();
  });
  return ceph;
}

/** Starts an observer and waits until it has stored a first state. */
async function startObserver(
  t: Test,
  ceph: CephSandbox,
  store: Pick<Store, "run">,
  onFailed: (error: unknown) => void = () => {},
): Promise<SystemObserver> {
  const observer = observeStorageChanges({ ceph, store, onFailed, retryMs: 20 });
  t.teardown(() => observer.close());
  await untilVersion(store, 1, "sandbox-ceph");
  return observer;
}

test("changes of a cluster are published, with the services whose callers may receive them", async (t) => {
  const store = await openOwnStore(t);
  const ceph = makeCeph(t);
  await startObserver(t, ceph, store);
  await ceph.stopOsd(1);
  const events = await untilPublished(store, (reported) => reported.length >= 2);
  t.match(events, [
    {
      topic: "storage",
      type: "cluster.health",
      resource: /^cephClusters\/[-0-9a-f]{36}$/,
      host: "",
      services: ["stats.StatsService", "hostplane.v1.StorageService"],
      payload: { clusterHealth: { status: "HEALTH_WARN", raised: ["OSD_DOWN: 1 osds down"] } },
    },
    { type: "osd.down", resource: /\/osds\/1$/, payload: { cephDaemon: { host: "sandbox-ceph-2" } } },
  ]);
  const id = await ceph.crash("osd.1");
  await ceph.archiveCrash(id);
  const all = await untilPublished(store, (reported) =>
    reported.some(({ type }) => type === "crash.archived"),
  );
  t.equal(all.filter(({ type }) => type === "crash.reported").length, 1);
});

test("an unreachable cluster yields one event; afterwards the changes and a gap are published", async (t) => {
  const store = await openOwnStore(t);
  const ceph = makeCeph(t);
  const failures: unknown[] = [];
  const startedAtMs = Date.now();
  await startObserver(t, ceph, store, (error) => failures.push(error));
  await ceph.setOutage(outage);
  const outageAtMs = Date.now();
  await ceph.stopOsd(1);
  const [away] = await untilPublished(store, (reported) => reported.length > 0);
  t.match(away, {
    type: "cluster.health",
    payload: {
      clusterHealth: {
        status: "UNREACHABLE",
        previousStatus: "HEALTH_OK",
        raised: [/^UNREACHABLE: the monitors do not answer; it was last read at 20.*Z$/],
      },
    },
  });
  const lastReadAtMs = Date.parse(/ last read at (20[^"]*Z)"/.exec(JSON.stringify(away?.payload))?.[1] ?? "");
  t.ok(lastReadAtMs >= startedAtMs - 1 && lastReadAtMs <= outageAtMs + 1, "the time of the last read");
  await ceph.setOutage(undefined);
  const events = await untilPublished(store, (reported) => reported.some(({ type }) => type === "gap"));
  t.match(events[1]?.payload, { clusterHealth: { previousStatus: "UNREACHABLE", cleared: ["UNREACHABLE"] } });
  t.strictSame(
    events.map(({ type }) => type),
    ["cluster.health", "cluster.health", "osd.down", "gap"],
  );
  const { resource, payload } = events.at(-1) ?? {};
  t.equal(resource, "cephClusters");
  t.match(payload, { gap: { reason: "Ceph could not be read: the monitors do not answer" } });
  t.equal(failures.length, 1, "reported once");
});

test("changes while no gateway ran are published by the next one, before its gap", async (t) => {
  const store = await openOwnStore(t);
  const ceph = makeCeph(t);
  await (await startObserver(t, ceph, store)).close();
  await ceph.stopOsd(2);
  observe(t, ceph, store);
  const events = await untilPublished(store, (reported) => reported.some(({ type }) => type === "gap"));
  t.strictSame(
    events.map(({ type }) => type),
    ["cluster.health", "osd.down", "gap"],
  );
});

test("two gateways publish each change once", async (t) => {
  const store = await openOwnStore(t);
  const ceph = makeCeph(t);
  await startObserver(t, ceph, store);
  observe(t, ceph, store);
  await untilPublished(store, (reported) => reported.some(({ type }) => type === "gap"));
  await ceph.stopOsd(1);
  await ceph.startOsd(1);
  const events = await untilPublished(
    store,
    (reported) => reported.filter(({ type }) => type === "osd.up").length > 0,
  );
  t.strictSame(
    events.map(({ type }) => type).filter((type) => type.startsWith("osd.")),
    ["osd.down", "osd.up"],
  );
});

test("an observer does not make the cluster be read more often", async (t) => {
  const store = await openOwnStore(t);
  const sandbox = makeCeph(t);
  const readers: (CephReader | undefined)[] = [];
  const ceph: CephSandbox = {
    ...sandbox,
    read(signal, reader) {
      readers.push(reader);
      return sandbox.read(signal, reader);
    },
  };
  await startObserver(t, ceph, store);
  readers.length = 0;
  await ceph.stopOsd(1);
  await untilPublished(store, (reported) => reported.length >= 2);
  t.strictSame(readers, [{ isWatching: false }]);
});

function observe(t: Test, ceph: CephSandbox, store: Pick<Store, "run">): void {
  const observer = observeStorageChanges({ ceph, store, onFailed: () => {}, retryMs: 20 });
  t.teardown(() => observer.close());
}
