import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { domainStateOf, parseDomain } from "../../../../adapters/libvirt/domains/parse-domain.ts";
import { codePoint } from "../../../code-point.ts";
import { reasonOfCall } from "../../host/reason-of.ts";

const sample = (name: string) => readFileSync(join(import.meta.dirname, "../samples", name), "utf8");

test("parses a VM created by the gateway, with its mark and its host device", async (t) => {
  t.strictSame(parseDomain(sample("domain-made.xml")), {
    name: "bm-1",
    uuid: "11111111-2222-4333-8444-555555555555",
    vcpuCount: 2,
    memoryBytes: 64n << 20n,
    mark: { hypervisorId: "bm-1", operationId: "op-1", createdVolumes: [] },
    disks: [
      { target: "vda", source: { kind: "volume", pool: "default", volume: "base.qcow2" } },
      { target: "sda", source: { kind: "volume", pool: "default", volume: "base.qcow2" } },
    ],
    filesystems: [],
    hostDevices: ["0000:00:02.0"],
  });
});

test("parses a VM created by others, with every kind of source", async (t) => {
  t.strictSame(parseDomain(sample("domain-foreign.xml")), {
    name: "bm-7 & co",
    uuid: "21111111-2222-4333-8444-555555555555",
    vcpuCount: 4,
    memoryBytes: 976_563n * 1024n,
    mark: undefined,
    disks: [
      { target: "vda", source: { kind: "path", path: "/srv/pool/a.qcow2" } },
      { target: "vdb", source: { kind: "path", path: "/dev/vgpool/data" } },
      { target: "vdc", source: { kind: "other" } },
      { target: "vdd", source: { kind: "path", path: "/srv/pool/fat" } },
    ],
    filesystems: [{ target: "shared", source: { kind: "path", path: "/srv/pool/shared" } }],
    hostDevices: [],
  });
});

test("parses a running VM like one that is off", async (t) => {
  t.match(parseDomain(sample("domain-running.xml")), {
    name: "bm-2",
    mark: { hypervisorId: "bm-2", operationId: "op-1" },
    disks: [{ target: "vda", source: { kind: "volume", pool: "default", volume: "base.qcow2" } }],
  });
});

test("the mark names the volumes that were created with the VM", async (t) => {
  const volumes = `<hostplane:volume pool="p" name="a &amp; b"/><hostplane:volume pool="p"/><volume pool="p" name="x"/>`;
  const text = sample("domain-made.xml").replace(
    /<hostplane:hypervisor(.*?)\/>/,
    `<hostplane:hypervisor$1>${volumes}</hostplane:hypervisor>`,
  );
  t.match(parseDomain(text).mark?.createdVolumes, [{ pool: "p", name: "a & b" }]);
  t.equal(parseDomain(text).mark?.createdVolumes.length, 1);
});

test("a mark in another namespace is ignored", async (t) => {
  const foreign = sample("domain-made.xml").replace("urn:hostplane:libvirt:1", "urn:somebody:else");
  t.equal(parseDomain(foreign).mark, undefined);
  const bare = sample("domain-made.xml").replace(/<hostplane:hypervisor.*?\/>/, '<hypervisor id="a"/>');
  t.equal(parseDomain(bare).mark, undefined);
});

test("maps libvirt's state numbers", async (t) => {
  t.strictSame([0, 1, 2, 3, 4, 5, 6, 7, 8, -1].map(domainStateOf), [
    ...["unknown", "running", "running", "paused", "shuttingDown"],
    ...["shutOff", "crashed", "suspended", "unknown", "unknown"],
  ]);
});

test("XML other than a domain is TOOL_OUTPUT", async (t) => {
  const wrong = [
    "",
    "<domain",
    "<pool/>",
    "<domain/>",
    "<domain><name>a</name></domain>",
    "not XML",
    "<domain><name>a</name><uuid>b</uuid><vcpu>many</vcpu></domain>",
    "<domain><name>a</name><uuid>b</uuid><memory>1.5</memory></domain>",
    '<domain><name>a</name><uuid>b</uuid><memory unit="parsec">1</memory></domain>',
    '<!DOCTYPE domain [<!ENTITY a "b">]><domain><name>&a;</name><uuid>b</uuid></domain>',
  ];
  for (const text of wrong) {
    t.equal(await reasonOfCall(() => parseDomain(text)), "TOOL_OUTPUT", text);
  }
});

test("property: a sample with any deletion or insertion is parsed or rejected, and nothing else", async () => {
  const text = sample("domain-foreign.xml");
  fc.assert(
    fc.property(
      fc.nat(text.length),
      fc.nat(80),
      fc.string({ unit: codePoint, maxLength: 20 }),
      (at, cut, put) => {
        try {
          parseDomain(text.slice(0, at) + put + text.slice(at + cut));
        } catch (error) {
          if (!hasReason(error, hostReasons.TOOL_OUTPUT)) {
            throw error;
          }
        }
      },
    ),
    { numRuns: 1_000 },
  );
});
