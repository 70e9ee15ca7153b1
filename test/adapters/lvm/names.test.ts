import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import {
  assertSnapshotNames,
  assertTag,
  assertVolumeGroupName,
  assertVolumeName,
  devicePathOf,
  holderOfInternalName,
  isReservedVolumeName,
} from "../../../adapters/lvm/names.ts";
import { codePoint } from "../../code-point.ts";

function violationOf(assertion: () => void): string | undefined {
  try {
    assertion();
    return undefined;
  } catch (error) {
    if (!(error instanceof InfraError) || error.reason !== "INVALID_FIELD") {
      throw error;
    }
    return `${error.violations[0]?.field}: ${error.violations[0]?.description}`;
  }
}

const good = [
  "data",
  "a",
  "A1+_.-",
  "lvol1",
  "group",
  "a_tpool",
  "a_extent",
  "a".repeat(124),
  "...",
  "my-snapshot",
];
const bad = [
  ...["", "-x", ".", "..", "a b", "a/b", "a:b", "é", "a\n", "a\0", "$(x)", "a".repeat(125)],
  ...[
    "snapshot",
    "snapshotx",
    "pvmove0",
    "a_cdata",
    "_cdata",
    "a_vdata_b",
    "lvol0_pmspare",
    "x_cvol",
    "x_wcorig",
  ],
];

test("volume names follow lvm(8)", (t) => {
  for (const name of good) {
    t.equal(
      violationOf(() => assertVolumeName(name, "name")),
      undefined,
      name.slice(0, 20),
    );
  }
  for (const name of bad) {
    t.match(
      violationOf(() => assertVolumeName(name, "name")),
      /^name: /,
      JSON.stringify(name),
    );
  }
  t.end();
});

test("group and volume share their length limits", (t) => {
  // In vgt, lvcreate 2.03.16 accepted 121 characters and rejected 122; with device-mapper, it accepted 41 times "a-"
  // but not 42.
  t.equal(
    violationOf(() => assertVolumeName("a".repeat(121), "name", "vgt")),
    undefined,
  );
  t.match(
    violationOf(() => assertVolumeName("a".repeat(122), "name", "vgt")),
    "name: must be at most 121 characters",
  );
  t.equal(
    violationOf(() => assertVolumeName("a-".repeat(41), "name", "vg0")),
    undefined,
  );
  t.match(
    violationOf(() => assertVolumeName("a-".repeat(42), "name", "vg0")),
    "at most 123 characters",
  );
  t.match(
    violationOf(() => assertVolumeName("a".repeat(120), "name", "v-g-0")),
    /name: /,
  );
  t.end();
});

test("tags follow lvm(8)", (t) => {
  for (const tag of ["a", "a=b", "a/b", "!a", "a:b#c&d", "0", ".", "t".repeat(1024)]) {
    t.equal(
      violationOf(() => assertTag(tag, "tags[0]")),
      undefined,
      tag.slice(0, 20),
    );
  }
  for (const tag of ["", "-x", "a b", "a@b", "@a", "a,b", "é", "t".repeat(1025), "a\n"]) {
    t.match(
      violationOf(() => assertTag(tag, "tags[3]")),
      /^tags\[3\]: /,
      JSON.stringify(tag),
    );
  }
  t.end();
});

test("the gateway's own volume names are valid in groups with names of usual length", (t) => {
  for (const name of ["hostplane-restore-0123456789ab", "hostplane-backup-0123456789ab"]) {
    t.equal(
      violationOf(() => assertVolumeName(name, "name", "a-volume-group-with-a-rather-long-name")),
      undefined,
    );
  }
  t.end();
});

test("a copy-on-write snapshot needs longer device names than its volumes", (t) => {
  const violation = (name: string, origin: string) =>
    violationOf(() => assertSnapshotNames("vg0", name, origin));
  t.equal(violation("a-".repeat(39), "a-".repeat(39)), undefined, "vg0-, three times 39 characters, -real");
  t.match(violation("data", "a-".repeat(40)), "originName: must be at most 118 characters");
  t.equal(violation(`${"a-".repeat(39)}aa`, "data"), undefined);
  t.match(violation("a-".repeat(40), "data"), "name: must be at most 119 characters");
  t.end();
});

test("the device path is below the group's, without doubled hyphens", (t) => {
  t.equal(devicePathOf("vg-0", "my-data"), "/dev/vg-0/my-data");
  t.end();
});

test("an accepted name can neither be an option nor lead out of its directory", (t) => {
  const text = fc.oneof(fc.string({ unit: codePoint }), fc.stringMatching(/^[-./a-z_@ +]{0,12}$/));
  fc.assert(
    fc.property(text, (name) => {
      for (const assertion of [assertVolumeName, assertVolumeGroupName]) {
        if (violationOf(() => assertion(name, "name")) === undefined) {
          if (!/^[a-zA-Z0-9+_.][a-zA-Z0-9+_.-]*$/.test(name) || name === "." || name === "..") {
            return false;
          }
        }
      }
      return violationOf(() => assertTag(name, "tag")) !== undefined || /^[^-\s,@][^\s,@]*$/.test(name);
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

test("reserved names are distinguished from invalid ones", (t) => {
  t.ok(isReservedVolumeName("pool_tmeta"));
  t.ok(isReservedVolumeName("snapshot1"));
  t.notOk(isReservedVolumeName("data"));
  t.notOk(isReservedVolumeName("-x"));
  t.end();
});

test("an internal volume belongs to the volume before its suffix", async (t) => {
  const holders = {
    pool_tdata: "pool",
    pool_tdata_rimage_0: "pool",
    "a-b_mlog": "a-b",
    data_pool: "data_pool",
  };
  for (const [name, holder] of Object.entries(holders)) {
    t.equal(holderOfInternalName(name), holder);
  }
});
