import fc from "fast-check";
import { test } from "tap";
import type { PhysicalVolume } from "../../../../adapters/lvm/device-adapter.ts";
import { createLvmSandbox } from "../../../../adapters/lvm/sandbox.ts";
import {
  assertResolved,
  creatableBytes,
  createOptionsOf,
  type DeviceClass,
  limitBytes,
} from "../../../../server/domains/volumes/device-class.ts";
import { largestVolumeBytes, layoutFrom } from "../../../../server/domains/volumes/layout.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";

const extent = 4n << 20n;

/** Returns devices with this many free extents. */
function devicesWith(freeExtents: readonly number[]): PhysicalVolume[] {
  return freeExtents.map((count, index) => ({
    path: `/dev/${index}`,
    uuid: `uuid-${index}`,
    volumeGroupName: "vg0",
    sizeBytes: BigInt(count) * extent,
    usedBytes: 0n,
    allocatable: true,
    missing: false,
    device: undefined,
  }));
}

/** Returns the size of the largest volume in extents. */
function largest(freeExtents: readonly number[], options: string, extentSizeBytes = extent): number {
  const layout = layoutFrom(options.split(" ").filter((word) => word !== ""));
  const bytes = largestVolumeBytes(devicesWith(freeExtents), extentSizeBytes, layout, (one) => one.sizeBytes);
  return Number(bytes / extentSizeBytes);
}

test("options of lvcreate determine the layout, with its defaults", (t) => {
  for (const [options, deviceCount, dataCount] of [
    ["", 1, 1],
    ["--type linear", 1, 1],
    ["--mirrors 0", 1, 1],
    ["--type striped", 1, 1],
    ["--stripes 3 --stripesize 64k", 3, 3],
    ["--stripes 2 --stripes 3", 3, 3],
    ["--type raid0", 2, 2],
    ["--type raid0_meta --stripes 3", 3, 3],
    ["--mirrors 1", 2, 1],
    ["--type raid1", 2, 1],
    ["--type raid1 --mirrors 2", 3, 1],
    ["--type mirror --mirrors 1", 2, 1],
    ["--mirrors 1 --stripes 2", 4, 2],
    ["--type raid10", 4, 2],
    ["--type raid4 --stripes 3", 4, 3],
    ["--type raid5", 3, 2],
    ["--type raid5_ls --stripes 4", 5, 4],
    ["--type raid6", 5, 3],
    ["--type raid6_zr --stripes 4", 6, 4],
  ] as const) {
    t.match(layoutFrom(options.split(" ")), { deviceCount, dataCount }, options);
  }
  t.end();
});

test("the largest volume is that which LVM 2.03.16 creates", (t) => {
  for (const [free, options, extents] of [
    [[40, 30, 20], "", 90],
    [[10, 10, 10, 10], "--stripes 3", 30],
    [[25, 10, 32, 23], "--stripes 2", 84],
    [[24, 10, 27, 35], "--stripes 3", 81],
    [[40, 40], "--mirrors 1", 39],
    [[40, 30, 20], "--mirrors 1", 39],
    [[50, 40, 30, 20, 10], "--mirrors 1", 69],
    [[30, 30, 30, 30, 30, 30], "--mirrors 1", 89],
    [[40, 30, 20], "--type raid0", 80],
    [[40, 30, 20], "--type raid0_meta --stripes 3", 57],
    [[40, 40], "--type raid5", 0],
    [[40, 30, 20], "--type raid5", 38],
    [[50, 40, 30, 20, 10], "--type raid5", 98],
    [[60, 20, 20, 8, 8, 8], "--type raid10", 38],
    [[40, 40, 40, 40], "--type raid10", 78],
    [[40, 30, 20], "--type mirror --mirrorlog core --mirrors 1", 40],
  ] as const) {
    t.equal(largest(free, options), extents, `${free}: ${options}`);
  }
  t.equal(largest([40, 40], "--type mirror --mirrors 1"), 39, "its log takes an extent");
  t.ok(largest([40, 40], "--mirrors 1 --raidintegrity y") < 39, "its checksums take space");
  t.equal(largest([2000, 2000], "--mirrors 1", 64n << 10n), 2000 * 64 - 8, "metadata takes whole extents");
  t.equal(largest([1, 1], "--mirrors 1"), 0, "there is only space for the metadata");
  t.end();
});

const layouts = fc.constantFrom(
  ...[
    "--stripes 2",
    "--stripes 3",
    "--mirrors 1",
    "--mirrors 2",
    "--type raid5",
    "--type raid6",
    "--type raid10",
  ],
  ...["--type mirror --mirrors 1", "--mirrors 1 --raidintegrity y"],
);

test("with its copies and parity, the largest volume fits on different devices", (t) => {
  const sizes = fc.array(fc.nat(1_000), { maxLength: 9 });
  fc.assert(
    fc.property(sizes, layouts, (free, options) => {
      const { deviceCount, dataCount } = layoutFrom(options.split(" "));
      const rows = largest(free, options) / dataCount;
      // Rows that each take an extent of this many different devices exist exactly if this holds.
      const usable = free.reduce((sum, count) => sum + Math.min(count, rows), 0);
      return Number.isInteger(rows) && usable >= rows * deviceCount;
    }),
  );
  t.end();
});

test("a volume of the reported size can be created, and no larger one", async (t) => {
  const sizes = fc.array(fc.record({ total: fc.integer({ min: 1, max: 60 }), used: fc.nat(60) }), {
    minLength: 1,
    maxLength: 5,
  });
  const property = fc.asyncProperty(sizes, fc.integer({ min: 1, max: 3 }), async (all, stripe) => {
    const devices = all.map(({ total }, index) => ({
      path: `/dev/${index}`,
      sizeBytes: BigInt(total) * extent + (1n << 20n),
    }));
    const lvm = createLvmSandbox({ volumeGroups: [{ name: "vg0", devices }] });
    const allow = (path: string, allocatable: boolean) =>
      lvm.runOnDevices({ kind: "setAllocatable", volumeGroupName: "vg0", path, allocatable });
    const create = (name: string, sizeBytes: bigint, options: readonly string[]) =>
      lvm.run({ kind: "create", volumeGroupName: "vg0", name, sizeBytes, tags: [], options });
    const deviceClass: DeviceClass = { name: "a", volumeGroup: "vg0", default: true, spareGiB: 0, stripe };
    const creatable = async () => {
      const { value } = await lvm.read();
      return { state: value, bytes: creatableBytes(assertResolved(deviceClass, value), value) };
    };
    const { state, bytes: emptyBytes } = await creatable();
    t.equal(limitBytes(assertResolved(deviceClass, state), state), emptyBytes);
    for (const { path } of devices) {
      await allow(path, false);
    }
    for (const [index, { total, used }] of all.entries()) {
      const path = `/dev/${index}`;
      await allow(path, true);
      if (used > 0) {
        await create(`used-${index}`, BigInt(Math.min(used, total)) * extent, []);
      }
      await allow(path, false);
    }
    t.equal((await creatable()).bytes, 0n, "LVM allocates nothing");
    for (const { path } of devices) {
      await allow(path, true);
    }
    const { bytes } = await creatable();
    const options = createOptionsOf(deviceClass);
    const reason = await reasonOf(create("more", bytes + 1n, options));
    t.equal(reason, "NO_SPACE");
    await (bytes === 0n ? undefined : create("most", bytes, options));
    t.equal((await creatable()).bytes, 0n);
    await lvm.close();
  });
  await fc.assert(property, { numRuns: 50 });
});
