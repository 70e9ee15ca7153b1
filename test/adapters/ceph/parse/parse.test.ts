import fc from "fast-check";
import { test } from "tap";
import { parseCrashes } from "../../../../adapters/ceph/parse/parse-crashes.ts";
import {
  countFailureDomains,
  parseCrushRules,
  parseOsdTree,
} from "../../../../adapters/ceph/parse/parse-crush.ts";
import {
  parseFsDump,
  parseMgrDump,
  parseMonDump,
  parseNodeList,
} from "../../../../adapters/ceph/parse/parse-daemons.ts";
import { osdsFromMap, parseOsdDump, poolsFromMap } from "../../../../adapters/ceph/parse/parse-osd-map.ts";
import { parseStatus } from "../../../../adapters/ceph/parse/parse-status.ts";
import { parseDf, parseOsdDf } from "../../../../adapters/ceph/parse/parse-usage.ts";
import { parsePoolScrubs, readPoolScrubs } from "../../../../adapters/ceph/pool-scrubs.ts";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { answerIn } from "../samples.ts";

/** Every parser, with a recorded reply that it accepts. Conversions of maps are included. */
const readers: Readonly<Record<string, readonly [(text: string) => unknown, string]>> = {
  status: [parseStatus, answerIn("osd-down", "status")],
  "mon dump": [parseMonDump, answerIn("healthy", "mon dump")],
  "mgr dump": [parseMgrDump, answerIn("healthy", "mgr dump")],
  "fs dump": [parseFsDump, answerIn("healthy", "fs dump")],
  "node ls": [parseNodeList, answerIn("healthy", "node ls")],
  "osd dump": [poolsAndOsds, answerIn("healthy", "osd dump")],
  "osd tree": [domainsOfAllRules, answerIn("healthy", "osd tree")],
  "osd crush rule dump": [parseCrushRules, answerIn("healthy", "osd crush rule dump")],
  "df detail": [parseDf, answerIn("healthy", "df detail")],
  "osd df": [parseOsdDf, answerIn("healthy", "osd df")],
  "crash ls": [parseCrashes, answerIn("crash", "crash ls")],
  "pg dump": [parsePoolScrubs, answerIn("healthy", "pg dump pgs")],
};

const healthyTree = parseOsdTree(answerIn("healthy", "osd tree"));
const healthyRules = parseCrushRules(answerIn("healthy", "osd crush rule dump"));

function poolsAndOsds(text: string): unknown {
  const map = parseOsdDump(text);
  return [osdsFromMap(map, healthyTree), poolsFromMap(map, healthyTree, healthyRules, undefined)];
}

function domainsOfAllRules(text: string): unknown {
  const tree = parseOsdTree(text);
  return [...healthyRules.values()].map((rule) => countFailureDomains(tree, rule));
}

test("parses the status of a healthy cluster", async (t) => {
  t.match(parseStatus(answerIn("healthy", "status")), {
    fsid: /^[0-9a-f-]{36}$/,
    health: { status: "HEALTH_OK", checks: [] },
    quorum: ["a"],
    isMgrAvailable: true,
    slowOperationCount: 0,
    rgws: { daemons: [{ name: "a", host: /./, zone: "default" }] },
  });
});

test("the status has client I/O while there is any", async (t) => {
  const { clientIo } = parseStatus(answerIn("load", "status"));
  t.ok(clientIo.writesPerSecond > 0);
  t.ok(clientIo.writeBytesPerSecond > 0);
  t.equal(clientIo.readsPerSecond, 0, "an absent rate is 0");
});

test("the status has the rate of recovery while there is any", async (t) => {
  const { recovery } = parseStatus(answerIn("backfilling", "status"));
  t.ok(recovery.bytesPerSecond > 0);
  t.ok(recovery.objectsPerSecond > 0);
  t.same(parseStatus(answerIn("load", "status")).recovery, { bytesPerSecond: 0, objectsPerSecond: 0 });
});

test("an OSD that is down appears in the map and in the checks", async (t) => {
  const { health } = parseStatus(answerIn("osd-down", "status"));
  t.equal(health.status, "HEALTH_WARN");
  const checks = health.checks.filter(({ code }) => code === "OSD_DOWN");
  t.strictSame(checks, [
    { code: "OSD_DOWN", severity: "HEALTH_WARN", summary: "1 osds down", count: 1, isMuted: false },
  ]);
  const map = parseOsdDump(answerIn("osd-down", "osd dump"));
  const { osds, mapEpoch } = osdsFromMap(map, parseOsdTree(answerIn("osd-down", "osd tree")));
  t.strictSame(
    osds.map(({ id, isUp, isIn }) => [id, isUp, isIn]),
    [
      [0, true, true],
      [1, false, true],
      [2, true, true],
    ],
  );
  const [other, down] = osds;
  t.equal(other?.downAtEpoch, 0, "it has never been down");
  const downAtEpoch = down?.downAtEpoch ?? 0;
  t.ok(downAtEpoch > (down?.upFromEpoch ?? 0));
  t.ok(downAtEpoch <= mapEpoch);
});

test("SLOW_OPS has the number of slow operations, and muted checks are marked", async (t) => {
  const status = JSON.parse(answerIn("healthy", "status"));
  status.health.checks.SLOW_OPS = {
    severity: "HEALTH_WARN",
    summary: { message: "3 slow ops, oldest one blocked for 34 sec, osd.0 has slow ops", count: 3 },
    muted: true,
  };
  const { slowOperationCount, health } = parseStatus(JSON.stringify(status));
  t.equal(slowOperationCount, 3);
  t.match(health.checks, [{ code: "SLOW_OPS", isMuted: true }]);
});

test("parses pools with their copies, failure domains, usage and quotas", async (t) => {
  const df = parseDf(answerIn("quota", "df detail"));
  const pools = poolsFromMap(parseOsdDump(answerIn("quota", "osd dump")), healthyTree, healthyRules, df);
  t.match(
    pools.find(({ name }) => name === "images"),
    {
      kind: "replicated",
      size: 2,
      redundancy: 1,
      failureDomain: { type: "osd", count: 3 },
      applications: ["rbd"],
      quotaBytes: 1024n,
      quotaObjects: 1,
    },
  );
  t.match(
    pools.find(({ name }) => name === "coded"),
    {
      kind: "erasure",
      size: 3,
      redundancy: 1,
      failureDomain: { type: "osd", count: 3 },
      quotaBytes: undefined,
    },
  );
  t.ok(pools.every(({ usage }) => usage !== undefined));
  t.equal(df.totalBytes, 3n * (8n << 30n));
});

test("counts only racks with an OSD of the rule's device class", async (t) => {
  const nodes = [
    { id: -1, name: "default", type: "root", children: [-2, -3, -4] },
    { id: -2, name: "rack1", type: "rack", children: [0, 1] },
    { id: -3, name: "rack2", type: "rack", children: [2] },
    { id: -4, name: "empty", type: "rack", children: [] },
    { id: 0, name: "osd.0", type: "osd", device_class: "ssd" },
    { id: 1, name: "osd.1", type: "osd", device_class: "hdd" },
    { id: 2, name: "osd.2", type: "osd", device_class: "hdd" },
  ];
  const tree = parseOsdTree(JSON.stringify({ nodes }));
  const ruleFrom = (item_name: string) => ({
    rule_id: 1,
    steps: [
      { op: "take", item: -1, item_name },
      { op: "chooseleaf_firstn", num: 0, type: "rack" },
      { op: "emit" },
    ],
  });
  const countFrom = (root: string) => {
    const rule = parseCrushRules(JSON.stringify([ruleFrom(root)])).get(1);
    return rule === undefined ? undefined : countFailureDomains(tree, rule);
  };
  t.equal(countFrom("default"), 2);
  t.equal(countFrom("default~ssd"), 1);
  t.equal(countFrom("nowhere"), 0);
  const twice = { rule_id: 1, steps: [...ruleFrom("a").steps, ...ruleFrom("b").steps] };
  t.equal(parseCrushRules(JSON.stringify([twice])).size, 0, "a rule with two starting nodes is left out");
});

test("parses monitors, managers, metadata servers and hosts", async (t) => {
  t.match(parseMonDump(answerIn("healthy", "mon dump")), {
    names: ["a"],
    quorum: ["a"],
    mapCreatedAtMs: Number,
    mapModifiedAtMs: Number,
  });
  const { active, standbys } = parseMgrDump(answerIn("healthy", "mgr dump"));
  t.strictSame([active, ...standbys].toSorted(), ["a", "b"]);
  const { filesystems, standbys: idle } = parseFsDump(answerIn("healthy", "fs dump"));
  t.match(filesystems, [{ name: "cephfs", maxRanks: 1, servers: [{ state: "up:active" }] }]);
  t.equal(idle.length, 1);
  const [host] = parseNodeList(answerIn("healthy", "node ls"));
  t.ok(["mon.a", "mgr.a", "mgr.b", "osd.0", "osd.2", "mds.a"].every((each) => host?.daemons.includes(each)));
});

test("without a manager none is active", async (t) => {
  t.equal(parseMgrDump(answerIn("mgr-down", "mgr dump")).active, undefined);
  t.equal(parseStatus(answerIn("mgr-down", "status")).isMgrAvailable, false);
});

test("parses a crash's daemon, host, time, cause, and whether it is archived", async (t) => {
  const [crash] = parseCrashes(answerIn("crash", "crash ls"));
  t.match(crash, {
    id: /^2\d{3}-/,
    entity: "osd.2",
    host: /./,
    what: "ceph-osd crashed",
    version: /^16/,
    isArchived: false,
  });
  t.equal(new Date(crash?.atMs ?? 0).toISOString().slice(0, 22), crash?.id.slice(0, 22));
  t.match(parseCrashes(answerIn("crash-archived", "crash ls")), [{ id: crash?.id, isArchived: true }]);
  const poor = {
    crash_id: "2026-11-21T00:04:58.615245Z_x",
    assert_msg: "a.cc: 7: FAILED ceph_assert(b)\n\n NOTE",
  };
  t.match(parseCrashes(JSON.stringify([poor])), [
    { atMs: Date.parse("2026-11-21T00:04:58.615Z"), what: "a.cc: 7: FAILED ceph_assert(b)", entity: "" },
  ]);
});

test("parses each pool's oldest scrubs, also in the worker's format", async (t) => {
  const row = (pgid: string, stamp: string) => ({
    pgid,
    last_scrub_stamp: stamp,
    last_deep_scrub_stamp: "0.000000",
  });
  const pg_stats = [
    row("2.1f", "2026-11-20T00:00:00.000000+0000"),
    row("2.a", "2026-11-19T00:00:00.000000+0000"),
    row("1.0", "2026-11-21T01:00:00.000000+0100"),
  ];
  const scrubs = parsePoolScrubs(JSON.stringify({ pg_stats }));
  t.strictSame(scrubs, [
    { poolId: 1, oldestScrubAtMs: Date.UTC(2026, 10, 21), oldestDeepScrubAtMs: undefined },
    { poolId: 2, oldestScrubAtMs: Date.UTC(2026, 10, 19), oldestDeepScrubAtMs: undefined },
  ]);
  t.strictSame(readPoolScrubs(JSON.stringify(scrubs)), scrubs);
  t.ok(parsePoolScrubs(answerIn("healthy", "pg dump pgs")).length > 5);
});

/** Parses the text; rethrows any error other than the expected one. */
function outcome(read: (text: string) => unknown, text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    if (hasReason(error, cephReasons.CEPH_FAILED)) {
      return error;
    }
    throw error;
  }
}

test("arbitrary text gives a value or an error with the command, and nothing else", async (t) => {
  for (const [command, [read]] of Object.entries(readers)) {
    fc.assert(fc.property(fc.string(), (text) => void outcome(read, text)));
    fc.assert(fc.property(fc.jsonValue(), (value) => void outcome(read, JSON.stringify(value))));
    t.match(outcome(read, "not JSON"), { message: new RegExp(`^ceph ${command}: `) });
  }
});

test("a recorded reply damaged anywhere gives a value or an error", async (t) => {
  for (const [read, text] of Object.values(readers)) {
    t.notOk(outcome(read, text) instanceof InfraError);
    const json = JSON.parse(text);
    const places = placesIn(json);
    const damage = fc.record({
      place: fc.constantFrom(...places),
      value: fc.oneof(fc.jsonValue(), fc.constant(undefined)),
    });
    fc.assert(
      fc.property(damage, ({ place, value }) => {
        const copy = structuredClone(json);
        setAt(copy, place, value);
        outcome(read, JSON.stringify(copy) ?? "");
      }),
    );
    fc.assert(
      fc.property(fc.nat(text.length), (length) => {
        outcome(read, text.slice(0, length));
      }),
    );
  }
});

type Place = readonly (string | number)[];

function placesIn(value: unknown, above: Place = []): Place[] {
  if (typeof value !== "object" || value === null) {
    return [above];
  }
  const below = Object.entries(value).flatMap(([key, each]) => placesIn(each, [...above, key]));
  return above.length === 0 ? below : [above, ...below];
}

function setAt(value: Record<string, unknown>, [key = "", ...rest]: Place, to: unknown): void {
  const below = value[key];
  if (rest.length === 0 || typeof below !== "object" || below === null) {
    value[key] = to;
  } else {
    setAt(below as Record<string, unknown>, rest, to);
  }
}
