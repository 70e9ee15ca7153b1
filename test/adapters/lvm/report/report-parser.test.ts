import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { parseAttributes } from "../../../../adapters/lvm/report/attributes.ts";
import { createReportParser } from "../../../../adapters/lvm/report/report-parser.ts";
import { codePoint } from "../../../code-point.ts";

const sampleNames = [
  "physical-volumes",
  "device-mapper",
  "device-mapper-all",
  "exported-group",
  "missing-pv",
  "no-volume-group",
];

function sample(name: string): string {
  return readFileSync(join(import.meta.dirname, "../samples", `${name}.txt`), "utf8");
}

function parseFullReport(text: string): LvmState {
  return createReportParser()(text);
}

function volumeNamed(state: LvmState, name: string): LogicalVolume | undefined {
  return state.volumes.find((volume) => volume.name === name);
}

/** Parses the text; rethrows any error other than an InfraError. */
function outcome(text: string): LvmState | InfraError {
  try {
    return parseFullReport(text);
  } catch (error) {
    if (hasReason(error, hostReasons.TOOL_OUTPUT)) {
      return error;
    }
    throw error;
  }
}

test("parses every kind of volume of a host with device-mapper", (t) => {
  const state = parseFullReport(sample("device-mapper"));
  const { volumes } = state;
  t.strictSame(Object.fromEntries(volumes.map(({ name, kind }) => [name, kind])), {
    data: "linear",
    "data-snap": "snapshot",
    idle: "linear",
    mirrored: "mirror",
    open: "linear",
    pool: "thinPool",
    raid: "raid",
    stopped: "linear",
    thin: "thinVolume",
    "thin-snap": "thinVolume",
  });
  t.match(volumeNamed(state, "data-snap"), { originName: "data", sizeBytes: 64n << 20n, dataPercent: 0 });
  t.match(volumeNamed(state, "open"), {
    active: true,
    open: true,
    device: { major: 253 },
    tags: ["0first", "a=b"],
  });
  t.match(volumeNamed(state, "idle"), {
    active: false,
    open: false,
    device: undefined,
    tags: [],
    health: "ok",
  });
  t.match(volumeNamed(state, "stopped"), { active: true, health: "suspended" });
  t.match(volumeNamed(state, "thin-snap"), {
    thinPoolName: "pool",
    originName: "thin",
    sizeBytes: 1n << 30n,
  });
  const pool = volumeNamed(state, "pool");
  t.ok(pool?.dataPercent !== undefined && pool.dataPercent > 15 && pool.dataPercent < 25);
  t.ok(pool?.metadataPercent !== undefined && pool.metadataPercent > 0);
  t.end();
});

test("distinguishes an overflowed snapshot from one with free space", (t) => {
  const state = parseFullReport(sample("vm-snapshot-overflowed"));
  const snapshot = { kind: "snapshot", originName: "active", active: true, sizeBytes: 64n << 20n } as const;
  t.match(volumeNamed(state, "snap"), { ...snapshot, health: "invalidSnapshot", dataPercent: 100 });
  t.match(volumeNamed(state, "other"), { ...snapshot, health: "ok" });
  t.match(volumeNamed(state, "active"), { kind: "linear", health: "ok" });
  t.end();
});

test("leaves out LVM's internal volumes even where lvm reports them", (t) => {
  t.strictSame(parseFullReport(sample("device-mapper-all")), parseFullReport(sample("device-mapper")));
  t.match(sample("device-mapper-all"), "[pool_tdata]");
  t.end();
});

test("a group with a missing disk, and a volume that was on it", (t) => {
  const state = parseFullReport(sample("missing-pv"));
  t.strictSame(
    state.volumeGroups.map(({ name, missingPvCount }) => [name, missingPvCount]),
    [
      ["vgm", 1],
      ["vgt", 0],
    ],
  );
  t.equal(volumeNamed(state, "span")?.health, "partial");
  t.strictSame(volumeNamed(state, "span")?.tags, ["t1", "t2"]);
  t.equal(volumeNamed(state, "a")?.health, "ok");
  t.end();
});

test("leaves out an exported group with its volumes", (t) => {
  const state = parseFullReport(sample("exported-group"));
  t.strictSame(
    state.volumeGroups.map(({ name }) => name),
    ["vgm"],
  );
  t.equal(volumeNamed(state, "a"), undefined);
  t.end();
});

test("volumes of a cloned group are distinct, although they have the UUIDs of the originals", (t) => {
  const { report } = JSON.parse(sample("vm-linear")) as { report: object[] };
  const clone = JSON.stringify(report)
    .replaceAll('"vg0"', '"clone"')
    .replace(/"vg_uuid":"..../, '"vg_uuid":"abcd');
  const { volumes } = parseFullReport(JSON.stringify({ report: [...report, ...JSON.parse(clone)] }));
  t.strictSame(
    volumes.map(({ volumeGroupName, name }) => `${volumeGroupName}/${name}`),
    ["vg0/active", "vg0/inactive", "clone/active", "clone/inactive"],
  );
  t.end();
});

test("a volume whose row has not changed is the same object in the next report", (t) => {
  const parse = createReportParser();
  const before = parse(sample("device-mapper"));
  const after = parse(sample("device-mapper").replace('"0first,a=b"', '"other"'));
  for (const volume of after.volumes) {
    const previous = volumeNamed(before, volume.name);
    t.equal(volume === previous, volume.name !== "open", volume.name);
  }
  t.match(volumeNamed(after, "open"), { tags: ["other"] });
  t.strictSame(parse(sample("vm-linear")), parseFullReport(sample("vm-linear")));
  t.strictSame(parse(sample("device-mapper")), before);
  t.end();
});

test("a host without LVM has an empty state", (t) => {
  t.strictSame(parseFullReport(sample("no-volume-group")), {
    volumeGroups: [],
    volumes: [],
    physicalVolumes: [],
  });
  t.end();
});

test("ignores columns and reports of a newer lvm", (t) => {
  const newer = sample("device-mapper")
    .replaceAll('"lv_name"', '"lv_new_column":"x", "lv_name"')
    .replace('"report"', '"log": [], "report"');
  t.strictSame(parseFullReport(newer), parseFullReport(sample("device-mapper")));
  t.end();
});

test("an invalid report is TOOL_OUTPUT that names the place", (t) => {
  const whole = sample("missing-pv");
  const broken: [string, RegExp][] = [
    ["", /not JSON/],
    [whole.slice(0, -10), /not JSON/],
    ["null", /fullreport/],
    ["{}", /report/],
    [
      whole.replace('"vg_free":"50331648"', '"vg_free":"48.00m"'),
      /report\.0\.vg\.0\.vg_free: is not a number of bytes/,
    ],
    [whole.replace(/"lv_attr":"[^"]*"/, '"lv_attr":"-wi"'), /report\.0\.lv\.0\.lv_attr: has too few/],
    [whole.replace(/"lv_size":"\d+"/, '"lv_size":20'), /report\.0\.lv\.0\.lv_size/],
    ['{"report":[{"lv":[]},{"lv":[{}]}]}', /report\.1: volumes without a volume group/],
  ];
  for (const [text, message] of broken) {
    const result = outcome(text);
    t.match(result instanceof InfraError ? result.message : "parsed", message);
  }
  t.end();
});

test("a mutated report gives a state or TOOL_OUTPUT", (t) => {
  const texts = sampleNames.map(sample);
  const mutation = fc.record({
    text: fc.constantFrom(...texts),
    at: fc.nat(10_000),
    remove: fc.nat(40),
    insert: fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom('"', "[", "{}", "null", "-1", "1e999", ":", "}"),
    ),
  });
  fc.assert(
    fc.property(mutation, ({ text, at, remove, insert }) => {
      const start = at % text.length;
      outcome(text.slice(0, start) + insert + text.slice(start + remove));
    }),
    { numRuns: 1_000 },
  );
  fc.assert(fc.property(fc.json(), (json) => void outcome(json)));
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (vg, lv) => {
      outcome(JSON.stringify({ report: [{ vg: [vg], lv: [lv] }] }));
      outcome(JSON.stringify({ report: [{ vg, lv }] }));
    }),
  );
  t.end();
});

test("parses health and kind from lv_attr by position", (t) => {
  const cases: [string, object][] = [
    ["-wi-ao----", { kind: "linear", health: "ok", active: true, open: true }],
    ["-wi-XX--p-", { kind: "linear", health: "partial", active: false, open: false }],
    ["rwi-a-r-r-", { kind: "raid", health: "refreshNeeded" }],
    ["rwi-a-r-m-", { kind: "raid", health: "mismatchesExist" }],
    ["twi-aotzD-", { kind: "thinPool", health: "outOfDataSpace" }],
    ["twi-aotzM-", { kind: "thinPool", health: "metadataReadOnly" }],
    ["twi-cotz--", { kind: "thinPool", health: "metadataReadOnly" }],
    ["twi-aotzF-", { kind: "thinPool", health: "failed" }],
    ["swi-I-s---", { kind: "snapshot", health: "invalidSnapshot", active: true }],
    ["owi-a-s---", { kind: "linear", health: "ok" }],
    ["owi-aotz--", { kind: "thinVolume" }],
    ["owi-a-r---", { kind: "raid" }],
    ["Cwi-a-C---", { kind: "cache" }],
    ["-wi-a---X-", { health: "unknown" }],
    ["?wi-a---?-", { kind: "other", health: "unknown" }],
  ];
  for (const [attributes, expected] of cases) {
    t.match(parseAttributes(attributes), expected, attributes);
  }
  t.equal(parseAttributes("-wi-ao--"), undefined);
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
      const attributes = parseAttributes(text);
      return attributes === undefined || !attributes.open || text.charAt(5) === "o";
    }),
  );
  t.end();
});

test("physical volumes: not allocatable, in use, missing, and in no group", async (t) => {
  const { physicalVolumes, volumeGroups } = parseFullReport(sample("physical-volumes"));
  t.equal(volumeGroups.length, 1);
  const bytes = 200n << 20n;
  t.match(physicalVolumes, [
    {
      path: "/dev/loop0",
      uuid: /^jKql0D-/,
      volumeGroupName: "pool",
      sizeBytes: bytes,
      usedBytes: 0n,
      allocatable: false,
      missing: false,
      device: { major: 7, minor: 0 },
    },
    { path: "/dev/loop1", usedBytes: 20n << 20n, allocatable: true, device: { major: 7, minor: 1 } },
    { path: "[unknown]", volumeGroupName: "pool", missing: true, device: undefined },
    { path: "/dev/loop3", volumeGroupName: undefined, missing: false, device: { major: 7, minor: 3 } },
  ]);
  t.equal(parseFullReport(sample("device-mapper")).physicalVolumes.length, 0, "none without the report");
});

test("a volume has the devices of its internal volumes, and a snapshot its room", async (t) => {
  const devicesOf = (name: string) => volumeNamed(parseFullReport(sample(name)), "mirrored")?.devicePaths;
  t.strictSame(devicesOf("vm-raid1"), ["/dev/vdc", "/dev/vdd"]);
  t.strictSame(devicesOf("vm-raid1-all"), ["/dev/vdc", "/dev/vdd"]);
  const thin = parseFullReport(sample("vm-thin"));
  t.match(volumeNamed(thin, "pool"), { devicePaths: ["/dev/vdb"], metadataSizeBytes: 4n << 20n });
  t.match(volumeNamed(thin, "thin"), { devicePaths: [], metadataSizeBytes: undefined });
  const thick = parseFullReport(sample("vm-snapshot"));
  t.match(volumeNamed(thick, "snap"), { devicePaths: ["/dev/vdb"], roomBytes: 8n << 20n });
  t.match(volumeNamed(thick, "active"), { devicePaths: ["/dev/vdb"], roomBytes: undefined, merging: false });
});

test("a volume is a new object if it has moved to another device", async (t) => {
  const parse = createReportParser();
  const before = parse(sample("vm-linear"));
  t.equal(parse(sample("vm-linear")).volumes[0], before.volumes[0]);
  const [moved] = parse(sample("vm-linear").replaceAll("/dev/vdb", "/dev/vdz")).volumes;
  t.strictSame(moved, { ...before.volumes[0], devicePaths: ["/dev/vdz"] });
});

test("a volume keeps its list of devices when another of its properties has changed", async (t) => {
  const parse = createReportParser();
  const before = volumeNamed(parse(sample("device-mapper")), "open");
  const after = volumeNamed(parse(sample("device-mapper").replace('"0first,a=b"', '"other"')), "open");
  t.not(after, before);
  t.equal(after?.devicePaths, before?.devicePaths);
});
