import fc from "fast-check";
import { test } from "tap";
import { snapshotRoomBytes } from "../../../adapters/lvm/snapshot-room.ts";

const extent = 4n << 20n;
const inExtents = (bytes: bigint) => (bytes + extent - 1n) / extent;

test("the size for all of a volume is the maximum to which lvcreate reduces it", (t) => {
  // `Reducing COW size 100.00 GiB down to maximum usable size 68.00 MiB.`, for a volume of 64 MiB
  t.equal(inExtents(snapshotRoomBytes(16n * extent, 100)), 17n);
  // `Reached maximum COW size 644.00 MiB (161 extents).`, for a volume of 640 MiB
  t.equal(inExtents(snapshotRoomBytes(160n * extent, 100)), 161n);
  t.end();
});

test("the size for a part of a volume covers that part and its metadata, and little more", (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 1n << 50n }),
      fc.integer({ min: 1, max: 100 }),
      (sectors, percent) => {
        const share = (sectors * 512n * BigInt(percent)) / 100n;
        const room = snapshotRoomBytes(sectors * 512n, percent);
        return room > share + share / 256n && room < share + share / 256n + 5n * 4096n;
      },
    ),
  );
  t.end();
});
