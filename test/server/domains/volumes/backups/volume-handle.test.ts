import fc from "fast-check";
import { test } from "tap";
import {
  parseVolumeHandle,
  resourcesByHandle,
  volumesByHandle,
} from "../../../../../server/domains/volumes/backups/volume-handle.ts";
import { groupOf, stateOf, volumeOf } from "../lvm-state.ts";

const gib = 1n << 30n;
const classes = [
  { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
  { name: "thin", volumeGroup: "vg1", default: false, spareGiB: 0, thinPool: "pool" },
];

test("a handle is a name, a name with its group, or a resource", async (t) => {
  t.same(parseVolumeHandle("data"), { volumeGroup: undefined, name: "data" });
  t.same(parseVolumeHandle("vg0/data"), { volumeGroup: "vg0", name: "data" });
  t.same(parseVolumeHandle("volumeGroups/vg0/volumes/data"), { volumeGroup: "vg0", name: "data" });
  t.same(resourcesByHandle(parseVolumeHandle("data"), classes), [
    "volumeGroups/vg0/volumes/data",
    "volumeGroups/vg1/volumes/data",
  ]);
  t.same(resourcesByHandle(parseVolumeHandle("vg9/data"), classes), []);
});

test("a handle matches only volumes of device classes", async (t) => {
  const pool = volumeOf("vg1", "pool", { kind: "thinPool" });
  const thin = volumeOf("vg1", "data", { kind: "thinVolume", thinPoolName: "pool" });
  const state = stateOf(
    [groupOf("vg0", gib), groupOf("vg1", gib), groupOf("vg2", gib)],
    [volumeOf("vg0", "data"), pool, thin, volumeOf("vg1", "thick"), volumeOf("vg2", "root")],
  );
  const found = (handle: string) =>
    volumesByHandle(parseVolumeHandle(handle), classes, state).map(
      ({ volumeGroupName, name }) => `${volumeGroupName}/${name}`,
    );
  t.same(found("data"), ["vg0/data", "vg1/data"]);
  t.same(found("vg1/data"), ["vg1/data"]);
  for (const handle of ["pool", "thick", "vg1/thick", "root", "vg2/root", "", "/", "vg0/", "/data"]) {
    t.same(found(handle), [], handle);
  }
});

test("a volume with the mark of an operation matches no handle", async (t) => {
  const marked = (name: string) => volumeOf("vg0", name, { tags: ["hostplane-operation-1"] });
  const state = stateOf([groupOf("vg0", gib)], [marked("hostplane-restore-1"), marked("data")]);
  for (const handle of ["hostplane-restore-1", "vg0/data"]) {
    t.same(volumesByHandle(parseVolumeHandle(handle), classes, state), []);
  }
});

test("any text can be parsed as a handle", async (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { volumeGroup, name } = parseVolumeHandle(text);
      t.ok(text.endsWith(name) && text.includes(volumeGroup ?? ""));
    }),
  );
});
