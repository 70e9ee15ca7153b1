import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { LibvirtPool } from "../adapter.ts";
import { bytesOf } from "../sizes.ts";
import { attributeOf, childOf, parseXml, renderXml, textOf, xml } from "../xml.ts";

/**
 * Parses the result of `virStoragePoolGetXMLDesc`.
 * @throws InfraError TOOL_OUTPUT
 */
export function parsePool(text: string): Omit<LibvirtPool, "isActive"> {
  const pool = parseXml(text, "pool");
  const name = childOf(pool, "name")?.textContent;
  const uuid = textOf(childOf(pool, "uuid"));
  if (!name || uuid === "") {
    throw new InfraError(hostReasons.TOOL_OUTPUT, "libvirt sent a storage pool without name or UUID");
  }
  return {
    name,
    uuid,
    type: attributeOf(pool, "type") ?? "",
    targetPath: childOf(pool, "target", "path")?.textContent ?? undefined,
    capacityBytes: bytesOf(childOf(pool, "capacity"), "bytes"),
    freeBytes: bytesOf(childOf(pool, "available"), "bytes"),
  };
}

/** Facts in a volume's XML. */
export interface VolumeFacts {
  readonly path: string;
  /** Size that the guest sees. */
  readonly sizeBytes: bigint;
  /** Size as stored: the length of a file, the size of a device. */
  readonly storedBytes: bigint;
  /** `qcow2`, `raw`, `iso`, ...; empty if the pool has no formats. */
  readonly format: string;
  /** Changes when its bytes or its owner have changed; empty if the pool does not report it. */
  readonly changedAt: string;
}

/** Parses the result of `virStorageVolGetXMLDesc`. @throws InfraError TOOL_OUTPUT */
export function parseVolume(text: string): VolumeFacts {
  const volume = parseXml(text, "volume");
  return {
    path: childOf(volume, "target", "path")?.textContent ?? "",
    sizeBytes: bytesOf(childOf(volume, "capacity"), "bytes"),
    storedBytes: bytesOf(childOf(volume, "physical") ?? childOf(volume, "capacity"), "bytes"),
    changedAt: ["mtime", "ctime"]
      .map((time) => textOf(childOf(volume, "target", "timestamps", time)))
      .join(" ")
      .trim(),
    format: attributeOf(childOf(volume, "target", "format"), "type") ?? "",
  };
}

/** A volume to create. */
export interface VolumeDefinition {
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly format: "qcow2" | "raw";
  /** Whether its space is allocated only as it is written to. */
  readonly isSparse: boolean;
  readonly backing: Pick<VolumeFacts, "path" | "format"> | undefined;
}

/**
 * Renders the XML of a volume. Without `compat`, libvirt creates qcow2 version 2, which does not support checkpoints.
 */
export function renderVolume({ name, sizeBytes, format, isSparse, backing }: VolumeDefinition): string {
  const compat = format === "qcow2" ? [xml("compat", {}, "1.1")] : [];
  const backingStore = backing === undefined ? [] : [backingStoreOf(backing)];
  return renderXml(
    xml(
      "volume",
      {},
      xml("name", {}, name),
      xml("capacity", { unit: "bytes" }, String(sizeBytes)),
      ...(isSparse ? [xml("allocation", { unit: "bytes" }, "0")] : []),
      xml("target", {}, xml("format", { type: format }), ...compat),
      ...backingStore,
    ),
  );
}

function backingStoreOf({ path, format }: Pick<VolumeFacts, "path" | "format">) {
  return xml("backingStore", {}, xml("path", {}, path), xml("format", { type: format }));
}
