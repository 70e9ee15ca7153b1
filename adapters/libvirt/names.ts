import { invalidField } from "../host/infra-error.ts";

const maxHypervisorIdLength = 63;

/**
 * Refuses ids that a hypervisor cannot have. The id is the name of its domain, the host name that its guest is given and a
 * part of its volumes' names, so it has what all of them take: 1 to 63 of `[A-Za-z0-9._-]`, beginning with a letter or digit.
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
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id)) {
    throw invalidField(
      field,
      "may contain only letters, digits and . _ -, and must begin with a letter or digit",
    );
  }
}

/** Refuses what is no PCI address of a host device as `0000:41:00.0`. @throws InfraError INVALID_FIELD */
export function assertPciAddress(address: string, field: string): void {
  if (!/^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$/.test(address)) {
    throw invalidField(
      field,
      "must be written as domain:bus:slot.function, e.g. 0000:41:00.0, with small letters",
    );
  }
}

/** What errors, operations, plans and events call a hypervisor. */
export function hypervisorResource(id: string): string {
  return `hypervisors/${id}`;
}
