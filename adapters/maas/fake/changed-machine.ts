import type { MaasMachineStatus } from "../machine.ts";
import { type FakeMachine, unallocated } from "./machine.ts";
import { statusName } from "./status-name.ts";

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
      return { ...machine, ...unallocated, status: "broken", statusMessage: "Released" };
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
      return { ...machine, ...unallocated, status: "ready", statusMessage: "Released" };
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
    ? { ...machine, ...unallocated, status: "ready", statusMessage: "Released" }
    : { ...leaving, status: "releasing", statusMessage: "Releasing" };
}

function annotated(
  before: Readonly<Record<string, string>>,
  written: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...before, ...written }).filter(([, value]) => value !== ""));
}
