import type { LibvirtStep } from "./adapter.ts";

/** The function of libvirt that a step calls, with what it is about, for people. */
export function commandOf(step: LibvirtStep): readonly string[] {
  switch (step.kind) {
    case "createVolume": {
      const { pool, name, format, sizeBytes, backingVolume } = step;
      const backing = backingVolume === undefined ? [] : [`backing=${backingVolume}`];
      return ["virStorageVolCreateXML", pool, name, format, `${sizeBytes} bytes`, ...backing];
    }
    case "writeSeed":
      return ["virStorageVolUpload", step.pool, step.name];
    case "deleteVolume":
      return ["virStorageVolDelete", step.pool, step.name];
    case "refreshPool":
      return ["virStoragePoolRefresh", step.pool];
    case "define":
      return ["virDomainDefineXML", step.domain.name, step.domain.uuid];
    case "start":
      return ["virDomainCreate", step.name, step.uuid];
    case "shutDown":
      return ["virDomainShutdown", step.name, step.uuid];
    case "powerOff":
      return ["virDomainDestroy", step.name, step.uuid];
    case "undefine":
      return ["virDomainUndefineFlags", step.name, step.uuid];
  }
}
