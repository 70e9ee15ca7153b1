import type { DomainDefinition } from "../adapter.ts";
import { renderXml, type XmlNode, xml } from "../xml.ts";
import { renderMark } from "./domain-mark.ts";
import type { Platform } from "./platform.ts";

/** Renders the XML of a VM to define. libvirt fills in what it leaves open, such as addresses. */
export function renderDomain(domain: DomainDefinition, { arch, type, machine }: Platform): string {
  const { name, uuid, memoryBytes, vcpuCount, serial } = domain;
  return renderXml(
    xml(
      "domain",
      { type },
      xml("name", {}, name),
      xml("uuid", {}, uuid),
      xml("metadata", {}, renderMark(domain.mark)),
      xml("memory", { unit: "bytes" }, String(memoryBytes)),
      xml("vcpu", {}, String(vcpuCount)),
      xml("sysinfo", { type: "smbios" }, xml("system", {}, xml("entry", { name: "serial" }, serial))),
      xml(
        "os",
        {},
        xml("type", { arch, ...(machine === undefined ? {} : { machine }) }, "hvm"),
        xml("boot", { dev: "hd" }),
        xml("smbios", { mode: "sysinfo" }),
      ),
      // Without ACPI, `shutDown` does not reach the guest.
      xml("features", {}, xml("acpi")),
      // With KVM, all features of the host's processor, so that the guest can be a hypervisor itself; without KVM, all
      // that QEMU emulates.
      xml("cpu", { mode: "maximum" }),
      xml("clock", { offset: "utc" }),
      xml("devices", {}, ...devicesOf(domain, machine)),
    ),
  );
}

function devicesOf(domain: DomainDefinition, machine: string | undefined): readonly XmlNode[] {
  return [
    ...disksOf(domain.disks, machine),
    ...(domain.network === undefined ? [] : [interfaceOf(domain.network)]),
    ...domain.hostDevices.map(hostDeviceOf),
    xml("serial", { type: "pty" }),
    xml("console", { type: "pty" }),
    xml("channel", { type: "unix" }, xml("target", { type: "virtio", name: "org.qemu.guest_agent.0" })),
    xml("rng", { model: "virtio" }, xml("backend", { model: "random" }, "/dev/urandom")),
  ];
}

function disksOf(disks: DomainDefinition["disks"], machine: string | undefined): readonly XmlNode[] {
  // Each device type has its own names: vda, vdb for disks, sda, sdb for cdroms.
  const counts = { disk: 0, cdrom: 0 };
  return disks.map(({ device, format, pool, volume }) => {
    const letter = String.fromCharCode("a".charCodeAt(0) + counts[device]);
    counts[device] += 1;
    const cdromBus = machine === "q35" ? "sata" : "scsi";
    return xml(
      "disk",
      { type: "volume", device },
      xml("driver", { name: "qemu", type: format }),
      xml("source", { pool, volume }),
      device === "disk"
        ? xml("target", { dev: `vd${letter}`, bus: "virtio" })
        : xml("target", { dev: `sd${letter}`, bus: cdromBus }),
      ...(device === "cdrom" ? [xml("readonly")] : []),
    );
  });
}

function interfaceOf(network: string): XmlNode {
  return xml("interface", { type: "network" }, xml("source", { network }), xml("model", { type: "virtio" }));
}

/** `managed`: libvirt detaches it from the host's driver at the start, and reattaches it afterwards. */
function hostDeviceOf(pciAddress: string): XmlNode {
  const [domain, bus, slot, part] = pciAddress.split(/[:.]/).map((each) => `0x${each}`);
  const address = { domain: domain ?? "", bus: bus ?? "", slot: slot ?? "", function: part ?? "" };
  return xml(
    "hostdev",
    { mode: "subsystem", type: "pci", managed: "yes" },
    xml("source", {}, xml("address", address)),
  );
}
