import type { MaasMachineStatus } from "../machine.ts";
import { machineStatuses } from "../machine-status.ts";

/** Returns the status in MAAS 3.4.10's spelling. */
export function statusName(status: MaasMachineStatus): string {
  return statusNames[statusCode(status)] ?? "Unknown";
}

/** Returns MAAS's number of a status, such as 6 for `deployed`. */
export function statusCode(status: MaasMachineStatus): number {
  return machineStatuses.indexOf(status);
}

const statusNames = [
  "New",
  "Commissioning",
  "Failed commissioning",
  "Missing",
  "Ready",
  "Reserved",
  "Deployed",
  "Retired",
  "Broken",
  "Deploying",
  "Allocated",
  "Failed deployment",
  "Releasing",
  "Releasing failed",
  "Disk erasing",
  "Failed disk erasing",
  "Rescue mode",
  "Entering rescue mode",
  "Failed to enter rescue mode",
  "Exiting rescue mode",
  "Failed to exit rescue mode",
  "Testing",
  "Failed testing",
];
