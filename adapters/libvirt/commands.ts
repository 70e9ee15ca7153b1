import type { LibvirtStep } from "./adapter.ts";
import { type Platform, usualPlatform } from "./domains/platform.ts";
import { renderDomain } from "./domains/render-domain.ts";
import { renderVolume } from "./volumes/storage-xml.ts";

/** virDomainUndefineFlagsValues: managed save, snapshots' metadata, NVRAM, checkpoints' metadata. */
export const undefineFlags = 1 | 2 | 4 | 16;
/** virDomainShutdownFlagValues: via ACPI, not via the guest agent. */
export const acpiPowerButton = 1;

/**
 * Returns the function of libvirt's C API for a step, with its arguments, for display. Objects appear by name,
 * as do values known only to libvirt, such as a backing volume's path.
 */
export function commandOf(step: LibvirtStep, platform: Platform = usualPlatform): readonly string[] {
  switch (step.kind) {
    case "createVolume": {
      const { pool, name, sizeBytes, format, backingVolume, isPreallocated = false } = step;
      const backing =
        backingVolume === undefined ? undefined : ({ path: backingVolume, format: "qcow2" } as const);
      const definition = { name, sizeBytes, format, isSparse: !isPreallocated, backing };
      return ["virStorageVolCreateXML", pool, renderVolume(definition), "0"];
    }
    case "writeSeed":
      return ["virStorageVolUpload", step.pool, step.name, `hostname=${step.hostname}`];
    case "deleteVolume":
      return ["virStorageVolDelete", step.pool, step.name, "0"];
    case "refreshPool":
      return ["virStoragePoolRefresh", step.pool, "0"];
    case "define":
      return ["virDomainDefineXMLFlags", renderDomain(step.domain, platform), "0"];
    case "start":
      return ["virDomainCreateWithFlags", step.name, "0"];
    case "shutDown":
      return ["virDomainShutdownFlags", step.name, String(acpiPowerButton)];
    case "powerOff":
      return ["virDomainDestroyFlags", step.name, "0"];
    case "undefine":
      return ["virDomainUndefineFlags", step.name, String(undefineFlags)];
  }
}
