import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import { compressions } from "../../../../../server/rpc/protocols/wire/compression.ts";

test("compressed data is restored with each compression", async () => {
  for (const { compress, decompress } of compressions) {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), async (given) => {
        const bytes = new Uint8Array(given);
        assert.deepEqual(new Uint8Array(await decompress(await compress(bytes), 5_000)), bytes);
      }),
      { numRuns: 30 },
    );
  }
});

test("no supported compression costs much more than gzip", async (t) => {
  const volumes = Array.from({ length: 400 }, (_, index) => ({
    name: `pvc-${(index * 7919) % 100_003}-data`,
    sizeGb: String(1 + (index % 90)),
    devMajor: 253,
    devMinor: index,
    tags: [`app=${index % 17}`],
  }));
  const list = new TextEncoder().encode(JSON.stringify({ volumes }));
  for (const { name, compress } of compressions) {
    await compress(list);
    const before = process.cpuUsage();
    for (let count = 0; count < 10; count += 1) {
      await compress(list);
    }
    const { user, system } = process.cpuUsage(before);
    const costMs = (user + system) / 10_000;
    // Brotli at its default quality took 50 ms.
    t.ok(costMs < 30, `${name}: ${costMs.toFixed(1)} ms of CPU for ${list.byteLength} bytes`);
  }
});
