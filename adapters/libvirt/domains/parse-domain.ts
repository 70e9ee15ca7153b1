import type { Element } from "@xmldom/xmldom";
import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { DomainState, LibvirtDomain, StorageSource } from "../adapter.ts";
import { bytesOf } from "../sizes.ts";
import { attributeOf, childOf, childrenOf, parseXml, textOf } from "../xml.ts";
import { markOf } from "./domain-mark.ts";
import { pciAddressOf } from "./node-device.ts";

/** Facts in a domain's XML. */
export interface DomainFacts
  extends Pick<
    LibvirtDomain,
    "name" | "uuid" | "vcpuCount" | "memoryBytes" | "mark" | "disks" | "filesystems"
  > {
  /** PCI addresses of host devices that are passed through. */
  readonly hostDevices: readonly string[];
}

/**
 * Parses the result of `virDomainGetXMLDesc`. Drives without a medium are left out.
 * @throws InfraError TOOL_OUTPUT
 */
export function parseDomain(text: string): DomainFacts {
  const domain = parseXml(text, "domain");
  const name = childOf(domain, "name")?.textContent;
  const uuid = textOf(childOf(domain, "uuid"));
  const vcpuCount = Number(textOf(childOf(domain, "vcpu")) || "1");
  if (!name || uuid === "" || !Number.isSafeInteger(vcpuCount)) {
    throw new InfraError(hostReasons.TOOL_OUTPUT, "libvirt sent a VM without name, UUID or number of vCPUs");
  }
  const devices = childOf(domain, "devices");
  return {
    name,
    uuid,
    vcpuCount,
    memoryBytes: bytesOf(childOf(domain, "memory"), "KiB"),
    mark: markOf(domain),
    disks: childrenOf(devices, "disk").flatMap((disk) => attachedOf(disk, "dev")),
    filesystems: childrenOf(devices, "filesystem").flatMap((filesystem) => attachedOf(filesystem, "dir")),
    hostDevices: childrenOf(devices, "hostdev").flatMap(hostDeviceOf),
  };
}

/** Returns the target of a disk or filesystem with the location of its data; empty for a drive without a medium. */
export function attachedOf(device: Element, targetAttribute: string): LibvirtDomain["disks"] {
  const source = childOf(device, "source");
  const target = attributeOf(childOf(device, "target"), targetAttribute);
  if (source === undefined || target === undefined) {
    return [];
  }
  return [{ target, source: sourceOf(source) }];
}

/** Parses the location in a `<source>`. */
function sourceOf(source: Element): StorageSource {
  const pool = attributeOf(source, "pool");
  const volume = attributeOf(source, "volume");
  if (pool !== undefined && volume !== undefined) {
    return { kind: "volume", pool, volume };
  }
  const path = ["file", "dev", "dir"].map((name) => attributeOf(source, name)).find(Boolean);
  return path === undefined ? { kind: "other" } : { kind: "path", path };
}

function hostDeviceOf(device: Element): readonly string[] {
  const address = childOf(device, "source", "address");
  if (attributeOf(device, "type") !== "pci" || address === undefined) {
    return [];
  }
  return [
    pciAddressOf(["domain", "bus", "slot", "function"].map((part) => attributeOf(address, part) ?? "0")),
  ];
}

// virDomainState; `blocked` is a running VM that waits, on Xen.
const states: readonly DomainState[] = [
  "unknown",
  "running",
  "running",
  "paused",
  "shuttingDown",
  "shutOff",
  "crashed",
  "suspended",
];

/** Maps a virDomainState number to its name. */
export function domainStateOf(number: number): DomainState {
  return states[number] ?? "unknown";
}
