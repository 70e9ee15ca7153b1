import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import { discardPartCommandOf, discardParts } from "../../../../adapters/lvm/data/discard.ts";

const kib = 2 ** 10;
const mib = 2 ** 20;
const gib = 2 ** 30;

test("a device is discarded in parts of 1 GiB", async (t) => {
  t.same(
    [...discardParts(2100 * mib, 64 * kib)],
    [
      { offsetBytes: 0, lengthBytes: gib },
      { offsetBytes: gib, lengthBytes: gib },
      { offsetBytes: 2 * gib, lengthBytes: 52 * mib },
    ],
  );
  t.same(
    [...discardParts(2100 * mib, 192 * kib)],
    [{ offsetBytes: 0, lengthBytes: 2100 * mib }],
    "parts would leave a chunk",
  );
  t.same(discardPartCommandOf("/dev/vg0/a", { offsetBytes: gib, lengthBytes: mib }), [
    ...["blkdiscard", "--force", "--offset=1073741824", "--length=1048576", "--", "/dev/vg0/a"],
  ]);
});

test("parts cover a device once, and begin where a chunk of its thin pool begins", async () => {
  const chunks = fc.integer({ min: 1, max: gib / (64 * kib) }).map((count) => count * 64 * kib);
  const sizes = fc.integer({ min: 1, max: 10_000 }).map((count) => count * 4 * mib);
  fc.assert(
    fc.property(sizes, fc.oneof(chunks, fc.constant(1)), (totalBytes, granularityBytes) => {
      let endBytes = 0;
      for (const { offsetBytes, lengthBytes } of discardParts(totalBytes, granularityBytes)) {
        assert.equal(offsetBytes, endBytes);
        assert.equal(offsetBytes % granularityBytes, 0);
        assert.ok(lengthBytes > 0 && (lengthBytes <= gib || gib % granularityBytes !== 0));
        endBytes += lengthBytes;
      }
      assert.equal(endBytes, totalBytes);
    }),
  );
});
