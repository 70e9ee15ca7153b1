import { invalidField } from "../host/infra-error.ts";

const maxHypervisorIdLength = 63;

/**
 * Rejects ids that a hypervisor cannot have. The id is the name of its VM, the host name of its guest and a part of its
 * volume names, so it must be valid for all of them: 1 to 63 of `[A-Za-z0-9._-]`, beginning with a letter or digit.
 * @param field the request's field, for the violation
 * @throws InfraError INVALID_FIELD
 */
export function assertHypervisorId(id: string, field: string): void {
  if (id === "") {
    throw invalidField(field, "must not be empty");
  }
  if (id.length > maxHypervisorIdLength) {
    throw invalidField(field, `must be at most ${maxHypervisorIdLength} characters long, is ${id.length}`);
  }
  if (!isHypervisorId(id)) {
    throw invalidField(
      field,
      "may contain only letters, digits and . _ -, and must begin with a letter or digit",
    );
  }
}

/** Reports whether `assertHypervisorId` accepts the id. */
export function isHypervisorId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(id);
}

/** Rejects anything but the PCI address of a host device, e.g. `0000:41:00.0`. @throws InfraError INVALID_FIELD */
export function assertPciAddress(address: string, field: string): void {
  if (!/^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$/.test(address)) {
    throw invalidField(
      field,
      "must be written as domain:bus:slot.function, e.g. 0000:41:00.0, in lower case",
    );
  }
}

/** NAME_MAX on Linux. */
const maxStorageNameBytes = 255;

/**
 * Rejects names that a storage pool, a volume or a network cannot have. A valid name has 1 to 255 bytes of anything but
 * `/` and control characters, and is neither `.` nor `..`. In many pools, a volume's name is a file name, so a valid
 * name cannot lead outside its pool.
 * @throws InfraError INVALID_FIELD
 */
export function assertLibvirtName(name: string, field: string): void {
  if (name === "") {
    throw invalidField(field, "must not be empty");
  }
  if (Buffer.byteLength(name) > maxStorageNameBytes) {
    throw invalidField(
      field,
      `must be at most ${maxStorageNameBytes} bytes long, is ${Buffer.byteLength(name)}`,
    );
  }
  if (/[/\p{Cc}\ufffe\uffff]/u.test(name) || !name.isWellFormed()) {
    throw invalidField(field, "must not contain / or control characters");
  }
  if (name === "." || name === "..") {
    throw invalidField(field, `must not be "${name}"`);
  }
}

/** Paths of unix sockets have at most 107 bytes, of which a backup's own directory and the name take 57. */
const maxSocketsDirectoryBytes = 50;

/** Rejects a directory that cannot contain the sockets of backups. @throws InfraError INVALID_FIELD */
export function assertSocketsDirectory(path: string, field: string): void {
  if (!path.startsWith("/") || /\p{Cc}/u.test(path)) {
    throw invalidField(field, "must begin with / and not contain control characters");
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > maxSocketsDirectoryBytes) {
    throw invalidField(
      field,
      `must be at most ${maxSocketsDirectoryBytes} bytes long, is ${bytes}, since socket paths are limited`,
    );
  }
}

/** Returns the resource name, in errors, of a VM that is not a hypervisor of the inventory yet. */
export function domainResource(name: string): string {
  return `domains/${name}`;
}

/** Returns the resource name of a storage pool in errors and events. */
export function poolResource(pool: string): string {
  return `storagePools/${pool}`;
}

/** Returns the resource name of a storage pool's volume in errors and events. */
export function poolVolumeResource(pool: string, name: string): string {
  return `${poolResource(pool)}/volumes/${name}`;
}

/** Returns the resource name of a hypervisor in errors, operations, plans and events. */
export function hypervisorResource(id: string): string {
  return `hypervisors/${id}`;
}

/** Returns the ID in a resource name of `hypervisorResource`. */
export function hypervisorIdOf(resource: string): string {
  return resource.slice(hypervisorResource("").length);
}
