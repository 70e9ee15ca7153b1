import type { MaasMachineStatus } from "../machine.ts";
import { machineStatuses } from "../machine-status.ts";

/** State of a machine of the fake. */
export interface FakeMachine {
  readonly systemId: string;
  readonly hostname: string;
  readonly architecture: string;
  readonly cpuCount: number;
  readonly memoryMib: number;
  readonly tags: readonly string[];
  readonly pool: string;
  readonly zone: string;
  readonly status: MaasMachineStatus;
  /** The last state that MAAS recorded; undefined if there was no event yet. */
  readonly statusMessage: string | undefined;
  readonly owner: string | undefined;
  /** Not part of any reply. */
  readonly agentName: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isLocked: boolean;
  readonly osystem: string;
  readonly series: string;
  readonly powerState: "on" | "off";
  /** `manual`: MAAS cannot switch it. */
  readonly powerType: "ipmi" | "manual";
  readonly address: string | undefined;
  /** Base64, as received. */
  readonly userData: string | undefined;
}

export type FakeMachineOptions = Pick<FakeMachine, "systemId" | "hostname"> &
  Partial<
    Pick<
      FakeMachine,
      "architecture" | "cpuCount" | "memoryMib" | "tags" | "pool" | "zone" | "status" | "powerType"
    >
  >;

export type MachineChange =
  | { readonly kind: "allocate"; readonly owner: string; readonly agentName: string }
  | {
      readonly kind: "deploy";
      readonly osystem: string;
      readonly series: string;
      readonly userData: string | undefined;
    }
  | {
      readonly kind: "annotate";
      readonly user: string;
      readonly annotations: Readonly<Record<string, string>>;
    }
  | { readonly kind: "release"; readonly erase: boolean }
  | { readonly kind: "markBroken"; readonly comment: string }
  | { readonly kind: "power"; readonly state: "on" | "off" }
  | { readonly kind: "lock" | "unlock" | "abort" | "markFixed" }
  /** Changes that MAAS makes by itself after a while. */
  | { readonly kind: "deployed" | "deploymentFailed" | "aborted" | "erased" | "released" | "releaseFailed" };

/** Text of a 409. */
export interface StateViolation {
  readonly violation: string;
}

/** Creates a commissioned machine. */
export function newFakeMachine(options: FakeMachineOptions): FakeMachine {
  return {
    architecture: "amd64/generic",
    cpuCount: 8,
    memoryMib: 16_384,
    tags: [],
    pool: "default",
    zone: "default",
    status: "ready",
    powerType: "ipmi",
    ...options,
    ...free,
    statusMessage: undefined,
  };
}

const free = {
  owner: undefined,
  agentName: "",
  annotations: {},
  isLocked: false,
  osystem: "",
  series: "",
  powerState: "off",
  address: undefined,
  userData: undefined,
} as const;

const releasable: readonly MaasMachineStatus[] = [
  "allocated",
  "reserved",
  "broken",
  "deploying",
  "deployed",
  "failedDeployment",
  "failedDiskErasing",
  "failedReleasing",
];

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

/** Applies a change as MAAS would. Permissions are not checked here. */
export function changedMachine(machine: FakeMachine, change: MachineChange): FakeMachine | StateViolation {
  const { status } = machine;
  switch (change.kind) {
    case "allocate":
      if (status !== "ready" || machine.owner !== undefined) {
        return { violation: `No machine with system ID ${machine.systemId} available.` };
      }
      return { ...machine, status: "allocated", owner: change.owner, agentName: change.agentName };
    case "deploy":
      if (status !== "allocated") {
        return { violation: `Can't deploy a machine that is in the '${statusName(status)}' state` };
      }
      return {
        ...machine,
        status: "deploying",
        statusMessage: "Deploying",
        powerState: machine.powerType === "manual" ? machine.powerState : "on",
        osystem: change.osystem,
        series: change.series,
        userData: change.userData,
      };
    case "annotate":
      if (machine.owner !== change.user) {
        return { violation: "Cannot set workload annotation: it hasn't been acquired." };
      }
      return { ...machine, annotations: annotated(machine.annotations, change.annotations) };
    case "release":
      return released(machine, change.erase);
    case "markBroken":
      // It is released first, and only the event has the comment.
      return { ...machine, ...free, status: "broken", statusMessage: "Released" };
    case "power":
      return { ...machine, powerState: change.state };
    case "markFixed":
      return status === "broken"
        ? { ...machine, status: "ready" }
        : { violation: `Can't mark a machine as fixed that is in the '${statusName(status)}' state` };
    case "lock":
      if (machine.isLocked) {
        return { violation: "Machine is already locked" };
      }
      return status === "deployed" || status === "deploying"
        ? { ...machine, isLocked: true }
        : { violation: "Can't lock, node is not deployed or deploying" };
    case "unlock":
      return machine.isLocked ? { ...machine, isLocked: false } : { violation: "Machine is not locked" };
    case "abort":
      // Its state changes only once the machine is off.
      return status === "deploying" || status === "diskErasing"
        ? {
            ...machine,
            statusMessage: status === "deploying" ? "Aborted deployment" : "Aborted disk erasing",
          }
        : {
            violation: `Cannot abort in current state: node ${machine.systemId} is in state ${statusName(status)}.`,
          };
    default:
      return afterwards(machine, change.kind);
  }
}

function afterwards(
  machine: FakeMachine,
  kind: "deployed" | "deploymentFailed" | "aborted" | "erased" | "released" | "releaseFailed",
): FakeMachine {
  switch (kind) {
    case "deployed":
      return { ...machine, status: "deployed", statusMessage: "Deployed" };
    case "deploymentFailed":
      return {
        ...machine,
        status: "failedDeployment",
        statusMessage: "Marking node failed - Node timed out",
      };
    case "aborted":
      return {
        ...machine,
        status: machine.status === "diskErasing" ? "failedDiskErasing" : "allocated",
        powerState: "off",
      };
    case "erased":
      return { ...machine, status: "releasing", statusMessage: "Releasing" };
    case "released":
      return { ...machine, ...free, status: "ready", statusMessage: "Released" };
    case "releaseFailed":
      return { ...machine, status: "failedReleasing", statusMessage: "Failed to power off" };
  }
}

function released(machine: FakeMachine, erase: boolean): FakeMachine | StateViolation {
  const { status } = machine;
  if (status === "ready" || status === "releasing") {
    return machine;
  }
  if (!releasable.includes(status)) {
    return { violation: `Machine cannot be released in its current state ('${statusName(status)}').` };
  }
  // The agent name is removed at once, owner and annotations when the release is complete.
  const leaving = { ...machine, agentName: "" };
  if (erase) {
    return { ...leaving, status: "diskErasing", statusMessage: "Erasing disks", powerState: "on" };
  }
  return machine.powerState === "off"
    ? { ...machine, ...free, status: "ready", statusMessage: "Released" }
    : { ...leaving, status: "releasing", statusMessage: "Releasing" };
}

function annotated(
  before: Readonly<Record<string, string>>,
  written: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...before, ...written }).filter(([, value]) => value !== ""));
}
