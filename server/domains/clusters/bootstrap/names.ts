import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { isDnsLabel, isDnsName } from "./dns-name.ts";

/** Leaves room for `-api` and the like behind it, within the 63 characters of a DNS label. */
const maxNameLength = 40;
/** kubernetes.io/docs/setup/best-practices/cluster-large: "no more than 5,000 nodes". */
export const maxMachines = 5000;
const controlPlaneCounts = [1, 3, 5];

/**
 * Refuses names that a cluster cannot have: it is a DNS label (RFC 1123) of at most 40 characters, so that it can stand in the
 * names of machines, addresses and files.
 * @param field the request's field, for the violation
 * @throws InfraError INVALID_FIELD
 */
export function assertClusterName(name: string, field: string): void {
  assertShortDnsLabel(name, field);
}

/**
 * Refuses names that a node pool cannot have; they are as those of clusters.
 * @throws InfraError INVALID_FIELD
 */
export function assertPoolName(name: string, field: string): void {
  assertShortDnsLabel(name, field);
}

/**
 * Refuses names that a node cannot have: a DNS name in small letters.
 * @throws InfraError INVALID_FIELD
 */
export function assertNodeName(name: string, field: string): void {
  if (!isDnsName(name)) {
    throw invalidField(field, "expected a DNS name in small letters");
  }
}

/**
 * Refuses all but 1, 3 and 5: etcd needs a majority, which an even number does not make safer.
 * @throws InfraError INVALID_FIELD
 */
export function assertControlPlaneCount(count: number, field: string): void {
  if (!controlPlaneCounts.includes(count)) {
    throw invalidField(field, `expected 1, 3 or 5 machines, got ${count}`);
  }
}

/**
 * Refuses numbers that a node pool cannot have.
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
      "may contain only small letters, digits and hyphens, none of these at an end (RFC 1123)",
    );
  }
}
