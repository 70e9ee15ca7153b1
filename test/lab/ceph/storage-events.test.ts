import { setTimeout as sleep } from "node:timers/promises";
import { create, toJsonString } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import tap, { type Test, test } from "tap";
import { operatorCapabilities, readerCapabilities } from "../../../adapters/ceph/inspect.ts";
import { type Event, EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { StorageService } from "../../../gen/hostplane/v1/storage_pb.ts";
import { type ClusterStats, ClusterStatsSchema } from "../../../gen/resources/stats/stats_pb.ts";
import { StatsService } from "../../../gen/stats/stats_pb.ts";
import { startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { rpcErrorFrom } from "../../server/harness/rpc-error.ts";
import { type CephCluster, cephSkipReason, makeCeph } from "./ceph.ts";

const skip = cephSkipReason();
tap.setTimeout(600_000);

/** Deadline of every call, and how much later it may end on a busy machine. */
const deadlineMs = 3_000;
const lateMs = 500;

interface Lab {
  readonly ceph: CephCluster;
  readonly stats: Client<typeof StatsService>;
  readonly storage: Client<typeof StorageService>;
  /** Storage events since the start. */
  readonly events: readonly Event[];
  /** Waits for an event with at least the given index. */
  untilEvent(from: number, matches: (event: Event) => boolean): Promise<Event>;
  /** Waits for figures; returns how long that took. */
  untilStats(matches: (stats: ClusterStats) => boolean): Promise<number>;
  /** Returns the longest time of a call of the constant caller since the last query. */
  longestCallMs(): number;
}

let started: Promise<Lab> | undefined;

/** A lab for all tests. Disks in memory would lose their data when a daemon stops. */
function sharedLab(): Promise<Lab> {
  started ??= startLab();
  return started;
}

async function startLab(): Promise<Lab> {
  const options = { osds: 3, mgrs: 2, mdss: 2, store: "bluestore" } as const;
  const ceph = await makeCeph((destroy) => tap.teardown(destroy), options);
  await ceph.run("ceph", "osd", "pool", "create", "images", "4", "--size", "2");
  await ceph.run("rbd", "pool", "init", "images");
  const [user, operator] = ["client.hostplane", "client.hostplane-operator"];
  const key = (name: string, capabilities: string) =>
    ceph.makeKey(
      name,
      [...capabilities.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ""),
    );
  const settings = {
    storage: {
      ceph: {
        conf: ceph.confPath,
        user,
        keyring: await key(user, readerCapabilities),
        operator: { user: operator, keyring: await key(operator, operatorCapabilities) },
      },
    },
    limits: { caller: { requestsPerSecond: 100_000 } },
  };
  const { url } = await startGatewayUnderTest(tap as unknown as Test, settings, { logLevel: "warn" });
  const transport = createGrpcTransport({ baseUrl: url });
  const stats = createClient(StatsService, transport);
  const ending = new AbortController();
  tap.teardown(() => ending.abort());
  const events: Event[] = [];
  let wake = () => {};
  const listen = async () => {
    const subscription = createClient(EventService, transport).subscribe(
      { topics: ["storage"] },
      { signal: ending.signal },
    );
    for await (const { message } of subscription) {
      if (message.case === "event") {
        events.push(message.value);
        wake();
      }
    }
  };
  listen().catch((error) => ending.signal.aborted || tap.fail(error));
  let longestMs = 0;
  const watch = async () => {
    while (!ending.signal.aborted) {
      const beganAtMs = performance.now();
      await stats.getClusterStats({}, { timeoutMs: deadlineMs }).catch(() => undefined);
      longestMs = Math.max(longestMs, performance.now() - beganAtMs);
      await sleep(20);
    }
  };
  void watch();
  // The gateway's first read causes no events.
  for (const turn of ["set", "unset", "set", "unset"]) {
    await ceph.run("ceph", "osd", turn, "noout");
    await sleep(events.length > 0 ? 0 : 4_000);
  }
  return {
    ceph,
    stats,
    storage: createClient(StorageService, transport),
    events,
    async untilEvent(from, matches) {
      const patience = AbortSignal.timeout(60_000);
      while (!patience.aborted) {
        const found = events.slice(from).find(matches);
        if (found !== undefined) {
          return found;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
          patience.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      throw new Error(
        `not reported; but ${events.slice(from).map(({ type, resource }) => `${type} ${resource}`)}`,
      );
    },
    async untilStats(matches) {
      const beganAtMs = performance.now();
      let last = "nothing";
      while (performance.now() - beganAtMs < 60_000) {
        try {
          const answer = await stats.getClusterStats({}, { timeoutMs: deadlineMs });
          if (answer.stats !== undefined && matches(answer.stats)) {
            return performance.now() - beganAtMs;
          }
          last = toJsonString(ClusterStatsSchema, answer.stats ?? create(ClusterStatsSchema));
        } catch (error) {
          last = String(error);
        }
        await sleep(50);
      }
      throw new Error(`timed out after a minute; last ${last}`);
    },
    longestCallMs() {
      const longest = longestMs;
      longestMs = 0;
      return longest;
    },
  };
}

/** Defines a test on the shared cluster that starts when it is healthy, and in which no call exceeds its deadline. */
function labTest(behaviour: string, body: (t: Test, lab: Lab) => Promise<void>): void {
  test(behaviour, { skip }, async (t) => {
    const lab = await sharedLab();
    await lab.untilStats(({ services }) => services?.osd?.osdUp === 3 && services.mgr?.active !== "");
    lab.longestCallMs();
    await body(t, lab);
    const longestMs = lab.longestCallMs();
    t.comment(`longest call: ${Math.round(longestMs)} ms`);
    t.ok(longestMs < deadlineMs + lateMs, "no call exceeded its deadline");
  });
}

const daemonOf = ({ detail }: Event) => (detail.case === "cephDaemon" ? detail.value : undefined);
const isAbout =
  (type: string, name: string) =>
  (event: Event): boolean =>
    event.type === type && daemonOf(event)?.name === name;

labTest("stopping and starting an OSD shows in the figures and causes events", async (t, lab) => {
  const from = lab.events.length;
  await lab.ceph.stop("osd.1");
  const [seenMs, event] = await Promise.all([
    lab.untilStats(({ services }) => services?.osd?.osdUp === 2),
    lab.untilEvent(from, isAbout("osd.down", "osd.1")),
  ]);
  t.comment(`seen ${Math.round(seenMs)} ms after it was stopped`);
  t.match(daemonOf(event), { state: "down, in", previousState: "up, in", host: /./ });
  t.match(event.resource, /^cephClusters\/[-0-9a-f]{36}\/osds\/1$/);
  const health = await lab.untilEvent(from, ({ detail }) => {
    return (
      detail.case === "clusterHealth" && detail.value.raised.some((line) => line.startsWith("OSD_DOWN: "))
    );
  });
  t.equal(health.type, "cluster.health");
  await lab.ceph.start("osd.1");
  await lab.untilEvent(from, isAbout("osd.up", "osd.1"));
  await lab.untilEvent(from, ({ detail }) => {
    return detail.case === "clusterHealth" && detail.value.cleared.includes("OSD_DOWN");
  });
});

labTest("a crash is noticed, causes an event, and is archived by its id", async (t, lab) => {
  const from = lab.events.length;
  await lab.ceph.crash("osd.2");
  await lab.ceph.start("osd.2");
  const event = await lab.untilEvent(from, ({ type }) => type === "crash.reported");
  const crash = event.detail.case === "cephCrash" ? event.detail.value : undefined;
  t.match(crash, { entity: "osd.2", what: /./, host: /./ });
  const { crashes } = await lab.storage.listCrashes({});
  t.ok(
    crashes.some(({ id }) => id === crash?.id),
    "it is in the list as soon as its event arrives",
  );
  await lab.untilStats(({ crashes: descriptions }) =>
    descriptions.some((one) => /osd\.2/.test(one.description)),
  );
  await lab.storage.archiveCrash({ id: crash?.id ?? "" });
  await lab.untilEvent(from, ({ type }) => type === "crash.archived");
});

labTest("client load shows in the figures while it lasts", async (t, lab) => {
  const bench = lab.ceph.run("rados", "bench", "-p", "images", "6", "write", "-b", "65536", "-t", "4");
  const isBusy = ({ iops }: ClusterStats) => iops !== undefined && !/^0 /.test(iops.clientWriteOps);
  t.comment(`seen after ${Math.round(await lab.untilStats(isBusy))} ms`);
  await bench;
  await lab.untilStats(({ iops }) => iops !== undefined && /^0 ops/.test(iops.clientWriteOps));
});

labTest("a nearly full pool and OSD cause events, and so does free space afterwards", async (t, lab) => {
  const from = lab.events.length;
  const quota = (bytes: number) =>
    lab.ceph.run("ceph", "osd", "pool", "set-quota", "images", "max_bytes", String(bytes));
  const writing = ["bench", "-p", "images", "2", "write", "-b", "1048576", "-t", "4", "--no-cleanup"];
  await lab.ceph.run("rados", ...writing);
  const stored = await storedBytes(lab);
  await quota(Math.floor(stored / 0.9));
  const full = await lab.untilEvent(from, ({ type }) => type === "pool.nearFull");
  t.match(full.resource, /\/pools\/images$/);
  t.match(full.detail, { value: { name: "images", totalBytes: BigInt(Math.floor(stored / 0.9)) } });
  await quota(stored * 10);
  await lab.untilEvent(from, ({ type }) => type === "pool.enough");
  await quota(0);

  await lab.ceph.run("ceph", "osd", "set-nearfull-ratio", "0.001");
  await lab.untilEvent(from, ({ type, resource }) => type === "osd.nearFull" && /osds\/0$/.test(resource));
  await lab.untilEvent(from, ({ detail }) => {
    return (
      detail.case === "clusterHealth" && detail.value.raised.some((line) => line.startsWith("OSD_NEARFULL"))
    );
  });
  await lab.ceph.run("ceph", "osd", "set-nearfull-ratio", "0.75");
  await lab.untilEvent(from, ({ type, resource }) => type === "osd.enough" && /osds\/0$/.test(resource));
  await lab.ceph.run("rados", "-p", "images", "cleanup");
});

async function storedBytes({ storage }: Lab): Promise<number> {
  let last = -1n;
  for (;;) {
    const { pools } = await storage.listPools({});
    const { storedBytes: now = 0n } = pools.find(({ name }) => name === "images") ?? {};
    if (now > 0n && now === last) {
      return Number(now);
    }
    last = now;
    await sleep(2_500);
  }
}

labTest("a failover of the manager shows in the figures and causes an event", async (t, lab) => {
  const from = lab.events.length;
  const { stats } = await lab.stats.getClusterStats({});
  const active = stats?.services?.mgr?.active ?? "";
  await lab.ceph.run("ceph", "mgr", "fail");
  const isOther = (event: Event) => event.type === "mgr.active" && daemonOf(event)?.name !== `mgr.${active}`;
  const [seenMs, event] = await Promise.all([
    lab.untilStats(({ services }) => ![active, ""].includes(services?.mgr?.active ?? "")),
    lab.untilEvent(from, isOther),
  ]);
  t.comment(`seen after ${Math.round(seenMs)} ms`);
  t.match(daemonOf(event), { state: "active" });
});

labTest("an outage of the monitors is published as a gap when they are back", async (t, lab) => {
  const from = lab.events.length;
  await lab.ceph.stop("mon.a");
  const stoppedAtMs = performance.now();
  let reason: string | undefined;
  while (reason === undefined && performance.now() - stoppedAtMs < 60_000) {
    await lab.stats.getClusterStats({}, { timeoutMs: deadlineMs }).catch((error) => {
      reason = rpcErrorFrom(error).reason;
    });
    await sleep(100);
  }
  t.equal(reason, "CEPH_UNAVAILABLE", "after the last state was returned for 30 s");
  t.comment(`rejected after ${Math.round(performance.now() - stoppedAtMs)} ms`);
  await lab.ceph.start("mon.a");
  const seenMs = await lab.untilStats(({ services }) => services?.mon?.quorum === "a");
  t.comment(`back after ${Math.round(seenMs)} ms`);
  const gap = await lab.untilEvent(from, ({ type }) => type === "gap");
  t.match(gap, { resource: "cephClusters", detail: { value: { reason: /^Ceph could not be read: / } } });
});

labTest("any number of GetClusterStats calls cost Ceph at most one refresh every 2 s", async (t, lab) => {
  // Ceph returns only the last 50 commands, so they have to be polled.
  const reported = new Set<string>();
  const check = async () => {
    const log = await lab.ceph.run("ceph", "log", "last", "50", "debug", "audit");
    for (const line of log.split("\n")) {
      if (/entity='client\.hostplane' cmd=\[\{"prefix": ?"status"/.test(line)) {
        reported.add(line);
      }
    }
  };
  await check();
  const earlier = reported.size;
  const tookMs: number[] = [];
  let oldestMs = 0;
  const onHeader = (headers: Headers) => {
    oldestMs = Math.max(oldestMs, Number(headers.get("hostplane-snapshot-age")));
  };
  const beganAtMs = performance.now();
  const caller = async () => {
    while (performance.now() - beganAtMs < 10_000) {
      const sentAtMs = performance.now();
      await lab.stats.getClusterStats({}, { timeoutMs: deadlineMs, onHeader });
      tookMs.push(performance.now() - sentAtMs);
    }
  };
  const watcher = async () => {
    while (performance.now() - beganAtMs < 10_000) {
      await sleep(1_000);
      await check();
    }
  };
  await Promise.all([watcher(), ...Array.from({ length: 20 }, caller)]);
  const lastedMs = performance.now() - beganAtMs;
  const refreshes = reported.size - earlier;
  t.comment(
    `${Math.round(tookMs.length / 10)} calls a second, longest ${Math.round(Math.max(...tookMs))} ms: ${refreshes} refreshes in ${Math.round(lastedMs)} ms, oldest state ${oldestMs} ms`,
  );
  t.ok(tookMs.length > 1_000);
  t.ok(refreshes >= 3, "they are counted");
  t.ok(refreshes <= lastedMs / 2_000 + 2, `${refreshes} refreshes`);
});
