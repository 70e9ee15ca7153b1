import { test } from "tap";
import { listVolumes } from "../../../../../server/domains/volumes/volume-service/volume-list.ts";
import { groupOf, stateOf, volumeOf } from "../lvm-state.ts";

const deviceClasses = [{ name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 0 }];
const group = groupOf("vg0", 0n);
const pool = volumeOf("vg0", "pool", { kind: "thinPool", devicePaths: ["/dev/a"] });
const thin = volumeOf("vg0", "thin", { kind: "thinVolume", thinPoolName: "pool" });
const other = volumeOf("vg0", "other");

test("only volumes that are other objects than before get another message", async (t) => {
  const [keptBefore, thinBefore] = listVolumes(stateOf([group], [pool, thin, other]), deviceClasses);
  const fuller = { ...pool, dataPercent: 50 };
  const changed = { ...other, tags: ["new"] };
  const [changedAfter, thinAfter] = listVolumes(stateOf([group], [fuller, thin, changed]), deviceClasses);
  t.equal(thinAfter, thinBefore);
  t.not(changedAfter, keptBefore);
  t.match(changedAfter, { name: "other", tags: ["new"] });
});

test("a thin volume gets another message when its pool moves to other devices", async (t) => {
  listVolumes(stateOf([group], [pool, thin]), deviceClasses);
  const [moved] = listVolumes(stateOf([group], [{ ...pool, devicePaths: ["/dev/b"] }, thin]), deviceClasses);
  t.match(moved, { name: "thin", physicalVolumes: ["/dev/b"] });
});

test("other device classes have messages of their own", async (t) => {
  const [one] = listVolumes(stateOf([group], [other]), deviceClasses);
  const renamed = deviceClasses.map((deviceClass) => ({ ...deviceClass, name: "hdd" }));
  const [same] = listVolumes(stateOf([group], [other]), renamed);
  t.match([one, same], [{ deviceClass: "ssd" }, { deviceClass: "hdd" }]);
});
