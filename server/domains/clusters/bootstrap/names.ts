import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { isDnsLabel } from "./dns-name.ts";

/** Leaves room for suffixes such as `-api` within the 63 characters of a DNS label. */
const maxNameLength = 40;
/** kubernetes.io/docs/setup/best-practices/cluster-large: "no more than 5,000 nodes". */
export const maxMachines = 5000;
const controlPlaneCounts = [1, 3, 5];

/**
 * Validates a cluster name: a DNS label (RFC 1123) of at most 40 characters, since it becomes part of the names of machines,
 * addresses and files.
 * @param field the request's field, for the violation
 * @throws InfraError INVALID_FIELD
 */
export function assertClusterName(name: string, field: string): void {
  assertShortDnsLabel(name, field);
}

/**
 * Validates the name of a node pool, by the same rules as a cluster's name.
 * @throws InfraError INVALID_FIELD
 */
export function assertPoolName(name: string, field: string): void {
  assertShortDnsLabel(name, field);
}

/**
 * Accepts only 1, 3 and 5: etcd needs a majority, so an even number adds no safety.
 * @throws InfraError INVALID_FIELD
 */
export function assertControlPlaneCount(count: number, field: string): void {
  if (!controlPlaneCounts.includes(count)) {
    throw invalidField(field, `expected 1, 3 or 5 machines, got ${count}`);
  }
}

/**
 * Validates the number of machines in a node pool.
 * @throws InfraError INVALID_FIELD
 */
export function assertPoolCount(count: number, field: string): void {
  if (!Number.isInteger(count) || count < 1 || count > maxMachines) {
    throw invalidField(field, `expected 1 to ${maxMachines} machines, got ${count}`);
  }
}

function assertShortDnsLabel(name: string, field: string): void {
  if (name === "") {
    throw invalidField(field, "must not be empty");
  }
  if (name.length > maxNameLength) {
    throw invalidField(field, `must be at most ${maxNameLength} characters long, is ${name.length}`);
  }
  if (!isDnsLabel(name)) {
    throw invalidField(
      field,
      "may contain only lowercase letters, digits and hyphens, with no hyphen at either end (RFC 1123)",
    );
  }
}
