import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { DomainGpu } from "../adapter.ts";
import { attributeOf, childOf, childrenOf, parseXml, textOf } from "../xml.ts";

/**
 * Formats the domain, bus, slot and function of a PCI device, each a number in C notation, as `0000:41:00.0`.
 * @throws InfraError TOOL_OUTPUT
 */
export function pciAddressOf(parts: readonly string[]): string {
  const [domain = NaN, bus = NaN, slot = NaN, part = NaN] = parts.map(Number);
  if (![domain, bus, slot, part].every((number) => Number.isInteger(number) && number >= 0)) {
    throw new InfraError(
      hostReasons.TOOL_OUTPUT,
      `libvirt sent ${parts.join(" ")} as the address of a PCI device`,
    );
  }
  return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(slot, 2)}.${part}`;
}

function hex(number: number, length: number): string {
  return number.toString(16).padStart(length, "0");
}

/** Returns libvirt's name of a PCI device: `pci_0000_41_00_0`. */
export function nodeDeviceName(pciAddress: string): string {
  return `pci_${pciAddress.replaceAll(/[:.]/g, "_")}`;
}

/**
 * Parses the XML of a node device that is a GPU: a PCI device of class 03. Undefined for any other device.
 * @throws InfraError TOOL_OUTPUT
 */
export function parseGpu(text: string): DomainGpu | undefined {
  const device = parseXml(text, "device");
  const pci = childrenOf(device, "capability").find((each) => attributeOf(each, "type") === "pci");
  if (pci === undefined || !/^0x03/.test(textOf(childOf(pci, "class")))) {
    return undefined;
  }
  const parts = ["domain", "bus", "slot", "function"].map((part) => textOf(childOf(pci, part)) || "0");
  return {
    pciAddress: pciAddressOf(parts),
    brand: textOf(childOf(pci, "vendor")),
    model: textOf(childOf(pci, "product")),
  };
}
