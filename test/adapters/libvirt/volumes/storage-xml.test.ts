import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { parsePool, parseVolume, renderVolume } from "../../../../adapters/libvirt/volumes/storage-xml.ts";
import { reasonOfCall } from "../../host/reason-of.ts";

const sample = (name: string) => readFileSync(join(import.meta.dirname, "../samples", name), "utf8");

test("parses a directory pool with its sizes", async (t) => {
  t.strictSame(parsePool(sample("pool-dir.xml")), {
    name: "default",
    uuid: "f746183f-f7cc-49b9-8b3b-61b37c765e29",
    type: "dir",
    targetPath: "/srv/pool",
    capacityBytes: 270_553_174_016n,
    freeBytes: 251_754_627_072n,
  });
});

test("an LVM pool that was never active has no sizes", async (t) => {
  t.match(parsePool(sample("pool-logical.xml")), {
    type: "logical",
    targetPath: "/dev/vgpool",
    capacityBytes: 0n,
    freeBytes: 0n,
  });
});

test("parses a volume with its path, size and format", async (t) => {
  const volume = {
    path: "/srv/pool/base.qcow2",
    sizeBytes: 100n << 20n,
    storedBytes: 196_616n,
    format: "qcow2",
    changedAt: "1795260846.406152058 1795260846.407078118",
  };
  t.strictSame(parseVolume(sample("volume-qcow2.xml")), volume);
});

test("a qcow2 volume has version 3, for checkpoints, and its backing volume", async (t) => {
  const backing = { path: "/srv/pool/a&b.img", format: "raw" };
  const volume = { name: "disk", sizeBytes: 7n, format: "qcow2", isSparse: true, backing } as const;
  const xml = renderVolume(volume);
  t.match(xml, '<format type="qcow2"/><compat>1.1</compat>');
  t.match(xml, '<backingStore><path>/srv/pool/a&amp;b.img</path><format type="raw"/></backingStore>');
  t.match(xml, '<allocation unit="bytes">0</allocation>');
  t.notMatch(renderVolume({ ...volume, format: "raw", isSparse: false }), /compat|allocation/);
});

test("XML other than a pool or volume is TOOL_OUTPUT", async (t) => {
  for (const text of ["", "<volume>", "<domain/>", "<pool><name>a</name></pool>", "<pool/><pool/>"]) {
    t.equal(await reasonOfCall(() => parsePool(text)), "TOOL_OUTPUT", text);
    t.equal(await reasonOfCall(() => parseVolume(text)), "TOOL_OUTPUT", text);
  }
});

test("property: parses sizes of every unit", async () => {
  const units: [string, bigint][] = [
    ["bytes", 1n],
    ["B", 1n],
    ["KB", 1000n],
    ["k", 1024n],
    ["KiB", 1024n],
    ["MB", 1000n ** 2n],
    ["M", 1n << 20n],
    ["GiB", 1n << 30n],
    ["G", 1n << 30n],
    ["TB", 1000n ** 4n],
    ["TiB", 1n << 40n],
    ["PiB", 1n << 50n],
    ["EB", 1000n ** 6n],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...units), fc.bigInt(0n, 1n << 64n), ([unit, factor], count) => {
      const xml = `<volume><capacity unit='${unit}'>${count}</capacity></volume>`;
      return parseVolume(xml).sizeBytes === count * factor;
    }),
  );
});
