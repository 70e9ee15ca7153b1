import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { nodeDeviceName, parseGpu, pciAddressOf } from "../../../../adapters/libvirt/domains/node-device.ts";
import { reasonOfCall } from "../../host/reason-of.ts";

const sample = (name: string) => readFileSync(join(import.meta.dirname, "../samples", name), "utf8");

// Written after libvirt's formatnode.html and sysfs, since no host with a GPU was available; the NIC is recorded.
test("a PCI device of class 03 is a GPU with brand and model", async (t) => {
  t.strictSame(parseGpu(sample("node-device-gpu.xml")), {
    pciAddress: "0000:41:00.0",
    brand: "NVIDIA Corporation",
    model: "GA100 [A100 PCIe 80GB]",
  });
});

test("without a PCI database, brand and model are empty", async (t) => {
  const nameless = sample("node-device-gpu.xml").replaceAll(/>[^<]*<\/(product|vendor)>/g, "/>");
  t.match(parseGpu(nameless), { brand: "", model: "" });
});

test("other devices are not GPUs", async (t) => {
  t.equal(parseGpu(sample("node-device-nic.xml")), undefined);
  t.equal(parseGpu("<device><capability type='usb'/></device>"), undefined);
  t.equal(parseGpu("<device/>"), undefined);
});

test("converts between PCI addresses and libvirt's device names", async (t) => {
  t.equal(pciAddressOf(["0x0000", "0x41", "0x1f", "0x7"]), "0000:41:1f.7");
  t.equal(pciAddressOf(["65535", "255", "0", "0"]), "ffff:ff:00.0");
  t.equal(nodeDeviceName("0000:41:1f.7"), "pci_0000_41_1f_7");
  t.equal(await reasonOfCall(() => pciAddressOf(["0", "x", "0", "0"])), "TOOL_OUTPUT");
  t.equal(await reasonOfCall(() => pciAddressOf(["0"])), "TOOL_OUTPUT");
});
