import { invalidField } from "../host/infra-error.ts";
import type { DomainDefinition, LibvirtStep } from "./adapter.ts";
import { assertHypervisorId, assertLibvirtName, assertPciAddress } from "./names.ts";

/** Rejects a step with names or sizes that libvirt would reject or misinterpret. @throws InfraError INVALID_FIELD */
export function assertStep(step: LibvirtStep): void {
  switch (step.kind) {
    case "createVolume":
      assertLibvirtName(step.pool, "pool");
      assertLibvirtName(step.name, "name");
      if (step.backingVolume !== undefined) {
        assertLibvirtName(step.backingVolume, "backingVolume");
      }
      if (step.sizeBytes <= 0n) {
        throw invalidField("sizeBytes", `must be more than 0, is ${step.sizeBytes}`);
      }
      if (step.isPreallocated && step.format !== "raw") {
        throw invalidField("isPreallocated", `must not be set for a volume in the format ${step.format}`);
      }
      return;
    case "writeSeed":
      assertLibvirtName(step.pool, "pool");
      assertLibvirtName(step.name, "name");
      assertHypervisorId(step.hostname, "hostname");
      return;
    case "deleteVolume":
      assertLibvirtName(step.pool, "pool");
      assertLibvirtName(step.name, "name");
      return;
    case "refreshPool":
      assertLibvirtName(step.pool, "pool");
      return;
    case "define":
      assertDefinition(step.domain);
      return;
    default:
      assertUuid(step.uuid);
  }
}

function assertDefinition({ name, uuid, network, disks, hostDevices }: DomainDefinition): void {
  assertHypervisorId(name, "name");
  assertUuid(uuid);
  if (network !== undefined) {
    assertLibvirtName(network, "network");
  }
  for (const { pool, volume } of disks) {
    assertLibvirtName(pool, "disks.pool");
    assertLibvirtName(volume, "disks.volume");
  }
  for (const address of hostDevices) {
    assertPciAddress(address, "hostDevices");
  }
}

function assertUuid(uuid: string): void {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)) {
    throw invalidField("uuid", "must be a UUID in lower case");
  }
}
