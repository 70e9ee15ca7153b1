import { test } from "tap";
import {
  allocatableBytes,
  assertResolved,
  type DeviceClass,
  findDeviceClass,
  reportedFreeBytes,
  volumesOf,
} from "../../../../server/domains/volumes/device-class.ts";
import { groupOf, stateOf, volumeOf } from "./lvm-state.ts";

const gib = 1n << 30n;
const thick: DeviceClass = { name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 10 };
const thin: DeviceClass = {
  name: "thin",
  volumeGroup: "vg1",
  default: false,
  spareGiB: 10,
  thinPool: "pool0",
  overprovision: 2.5,
};
const classes = [thick, thin];

const state = stateOf(
  [groupOf("vg0", 30n * gib), groupOf("vg1", 5n * gib)],
  [
    volumeOf("vg0", "data"),
    volumeOf("vg0", "pool", { kind: "thinPool" }),
    volumeOf("vg1", "pool0", { kind: "thinPool", sizeBytes: 10n * gib }),
    volumeOf("vg1", "a", { kind: "thinVolume", thinPoolName: "pool0", sizeBytes: 8n * gib }),
    volumeOf("vg1", "other", { kind: "thinVolume", thinPoolName: "pool1", sizeBytes: 8n * gib }),
  ],
);

test("an empty name selects the default class, an unknown name lists the existing ones", async (t) => {
  t.equal(findDeviceClass(classes, ""), thick);
  t.equal(findDeviceClass(classes, "thin"), thin);
  t.throws(() => findDeviceClass(classes, "hdd"), {
    reason: "DEVICE_CLASS_NOT_FOUND",
    message: /hdd.*ssd, thin/,
  });
});

test("a thick class has all volumes of its group except thin pools, a thin class those of its pool", async (t) => {
  t.same(
    volumesOf(assertResolved(thick, state), state).map(({ name }) => name),
    ["data"],
  );
  t.same(
    volumesOf(assertResolved(thin, state), state).map(({ name }) => name),
    ["a"],
  );
});

test("the spare reduces the reported free space, not what can be allocated", async (t) => {
  const resolved = assertResolved(thick, state);
  t.equal(allocatableBytes(resolved, state), 30n * gib);
  t.equal(reportedFreeBytes(resolved, state), 20n * gib);
  const full = stateOf([groupOf("vg0", 3n * gib)], []);
  t.equal(reportedFreeBytes(assertResolved(thick, full), full), 0n);
});

test("a thin pool can be allocated up to its size times the overprovision ratio", async (t) => {
  const resolved = assertResolved(thin, state);
  t.equal(allocatableBytes(resolved, state), 17n * gib);
  t.equal(reportedFreeBytes(resolved, state), 17n * gib);
});

test("the error for a class without its group or pool names what is missing", async (t) => {
  t.throws(() => assertResolved(thick, stateOf([], [])), {
    reason: "VOLUME_GROUP_GONE",
    message: /volume group vg0/,
  });
  t.throws(() => assertResolved(thin, stateOf([groupOf("vg1", 0n)], [])), {
    reason: "VOLUME_GROUP_GONE",
    message: /thin pool vg1\/pool0/,
  });
});
