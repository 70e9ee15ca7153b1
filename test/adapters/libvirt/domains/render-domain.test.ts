import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual as same } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import type { DomainDefinition } from "../../../../adapters/libvirt/adapter.ts";
import { parseDomain } from "../../../../adapters/libvirt/domains/parse-domain.ts";
import { parsePlatform, usualPlatform } from "../../../../adapters/libvirt/domains/platform.ts";
import { renderDomain } from "../../../../adapters/libvirt/domains/render-domain.ts";
import { reasonOfCall } from "../../host/reason-of.ts";

const sample = (name: string) => readFileSync(join(import.meta.dirname, "../samples", name), "utf8");

const definition: DomainDefinition = {
  name: "bm-1",
  uuid: "11111111-2222-4333-8444-555555555555",
  vcpuCount: 2,
  memoryBytes: 64n << 20n,
  mark: { hypervisorId: "bm-1", operationId: "op-1", createdVolumes: [] },
  serial: "bm-1",
  disks: [{ pool: "default", volume: "base.qcow2", format: "qcow2", device: "disk" }],
  network: "default",
  hostDevices: ["0000:41:00.0"],
};

test("a host without KVM emulates guests, on the newest chipset it has", async (t) => {
  t.strictSame(parsePlatform(sample("capabilities-tcg.xml")), {
    arch: "x86_64",
    type: "qemu",
    machine: "q35",
  });
});

test("a host with KVM uses it, and without q35 libvirt chooses the machine type", async (t) => {
  const withKvm = sample("capabilities-tcg.xml").replaceAll(
    "<domain type='qemu'/>",
    "<domain type='qemu'/><domain type='kvm'/>",
  );
  t.equal(parsePlatform(withKvm).type, "kvm");
  t.equal(parsePlatform(withKvm.replaceAll(">q35<", ">q36<")).machine, undefined);
  const withoutQemu = withKvm.replaceAll(/<domain type='\w+'\/>/g, "");
  t.equal(await reasonOfCall(() => parsePlatform(withoutQemu)), "LIBVIRT_FAILED");
});

test("a guest gets its id via SMBIOS, receives shutdown requests, and can have an agent", async (t) => {
  const xml = renderDomain(definition, usualPlatform);
  t.match(xml, '<domain type="kvm">');
  t.match(xml, '<type arch="x86_64" machine="q35">hvm</type>');
  t.match(xml, '<entry name="serial">bm-1</entry>');
  t.match(xml, '<smbios mode="sysinfo"/>');
  t.match(xml, "<acpi/>");
  t.match(xml, 'name="org.qemu.guest_agent.0"');
  t.match(xml, '<source network="default"/>');
  t.match(xml, '<hostdev mode="subsystem" type="pci" managed="yes">');
  t.match(xml, '<address domain="0x0000" bus="0x41" slot="0x00" function="0x0"/>');
});

test("property: rendered XML parses back to the same VM, whatever the names", async () => {
  // Everything that XML can represent, except Unicode line separators, which the parser reads as white space.
  const text = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
    .filter((value) => !/[\u{85}\u{2028}\u{2029}]/u.test(value))
    .filter((value) => /^[\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]+$/u.test(value));
  const disk = fc.record({
    pool: text,
    volume: text,
    format: fc.constantFrom("qcow2" as const, "raw" as const),
    device: fc.constantFrom("disk" as const, "cdrom" as const),
  });
  const pciAddress = fc
    .tuple(fc.nat(0xffff), fc.nat(0xff), fc.nat(0x1f), fc.nat(7))
    .map(([domain, bus, slot, part]) => {
      const hex = (number: number, length: number) => number.toString(16).padStart(length, "0");
      return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(slot, 2)}.${part}`;
    });
  const createdVolumes = fc.array(fc.record({ pool: text, name: text }, { noNullPrototype: true }), {
    maxLength: 3,
  });
  const definitions = fc.record({
    name: text,
    uuid: fc.uuid(),
    vcpuCount: fc.integer({ min: 1, max: 512 }),
    memoryBytes: fc.bigInt(1n, 1n << 60n),
    mark: fc.record({ hypervisorId: text, operationId: text, createdVolumes }, { noNullPrototype: true }),
    serial: text,
    disks: fc.array(disk, { maxLength: 5 }),
    network: fc.option(text, { nil: undefined }),
    hostDevices: fc.array(pciAddress, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(definitions, (desired) => {
      const { disks, ...seen } = parseDomain(renderDomain(desired, usualPlatform));
      const sources = desired.disks.map(({ pool, volume }) => ({ kind: "volume", pool, volume }));
      const { name, uuid, vcpuCount, memoryBytes, mark, hostDevices } = desired;
      const expected = { name, uuid, vcpuCount, memoryBytes, mark, hostDevices, filesystems: [] };
      fc.pre(name.trim() === name);
      const targets = new Set(disks.map(({ target }) => target));
      return (
        same(seen, expected) &&
        same(
          disks.map(({ source }) => source),
          sources,
        ) &&
        targets.size === disks.length
      );
    }),
  );
});

test("rejects text that XML cannot represent", async (t) => {
  t.throws(() => renderDomain({ ...definition, serial: "a\u0000b" }, usualPlatform), RangeError);
  t.throws(() => renderDomain({ ...definition, serial: "\ud800" }, usualPlatform), RangeError);
});
