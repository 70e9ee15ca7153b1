import type { MaasMachineStatus } from "./machine.ts";

/** By MAAS's numbers. Its words for them have changed between versions, the numbers have not. */
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

export function machineStatusFrom(code: number): MaasMachineStatus {
  return machineStatuses[code] ?? "unknown";
}
