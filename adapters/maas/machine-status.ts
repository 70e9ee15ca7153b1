import type { MaasMachineStatus } from "./machine.ts";

/** Statuses by MAAS's numbers. Unlike its names, they have not changed between versions. */
export const machineStatuses: readonly MaasMachineStatus[] = [
  "new",
  "commissioning",
  "failedCommissioning",
  "missing",
  "ready",
  "reserved",
  "deployed",
  "retired",
  "broken",
  "deploying",
  "allocated",
  "failedDeployment",
  "releasing",
  "failedReleasing",
  "diskErasing",
  "failedDiskErasing",
  "rescueMode",
  "enteringRescueMode",
  "failedEnteringRescueMode",
  "exitingRescueMode",
  "failedExitingRescueMode",
  "testing",
  "failedTesting",
];

/** Converts MAAS's number of a status; `unknown` for a number of a newer MAAS. */
export function machineStatusFrom(code: number): MaasMachineStatus {
  return machineStatuses[code] ?? "unknown";
}
