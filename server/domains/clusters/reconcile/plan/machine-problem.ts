import type { Reason } from "../../../../../adapters/host/define-reasons.ts";
import { hasReason, type InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { MaasMachineStatus } from "../../../../../adapters/maas/machine.ts";
import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import type { SlotRecord } from "../../../../store/cluster-records.ts";
import { clusterReasons } from "../../reasons.ts";
import { type ClusterView, machineOf, nodeOf, readinessOf } from "./cluster-view.ts";

/** How long a node may be not ready, for example during a reboot, before it is reported as a problem. */
const silentMs = 5 * 60_000;
/** Number of consecutive failures after which retries are not expected to help. */
const maxAttempts = 3;

const configurationReasons: readonly Reason[] = [
  clusterReasons.CLUSTER_ENDPOINT_MISSING,
  maasReasons.MAAS_REFUSED,
  clusterReasons.NO_IMAGE,
  maasReasons.MAAS_DENIED,
  maasReasons.ADDRESS_TAKEN,
];
const actReasons: readonly Reason[] = [
  ...configurationReasons,
  maasReasons.NO_ADDRESS,
  maasReasons.MACHINE_LOCKED,
];

/** MAAS statuses that an installed machine has only after an incident. */
const troubles: Partial<Readonly<Record<MaasMachineStatus, string>>> = {
  missing: "missing in MAAS",
  broken: "broken in MAAS",
  retired: "retired in MAAS",
  rescueMode: "in rescue mode",
  enteringRescueMode: "in rescue mode",
  failedEnteringRescueMode: "MAAS could not bring it into rescue mode",
  exitingRescueMode: "in rescue mode",
  failedExitingRescueMode: "MAAS could not bring it out of rescue mode",
  testing: "being tested by MAAS",
  failedTesting: "a MAAS test has failed",
};

/** Reports whether the slot is blocked until MAAS or the configuration is changed. */
export function isMisconfigured({ reason }: SlotRecord): boolean {
  return isOneOf(configurationReasons, reason);
}

/** Reports whether an error persists until MAAS or the configuration is changed. */
export function isConfigurationError(error: unknown): error is InfraError {
  return hasReason(error, ...configurationReasons);
}

/** Returns why a machine needs intervention, worded to follow its name and a colon; undefined when it does not. */
export function machineProblemOf(slot: SlotRecord, view: ClusterView): string | undefined {
  const status = slot.state === "wanted" ? undefined : machineOf(slot, view)?.status;
  const trouble = status === undefined ? undefined : troubles[status];
  if (trouble !== undefined) {
    return trouble;
  }
  if (slot.reason === maasReasons.NO_MACHINE.id) {
    return `no free ${slot.instanceType} machine`;
  }
  if (isOneOf(actReasons, slot.reason) || (slot.reason !== "" && slot.attempts >= maxAttempts)) {
    return slot.message === "" ? slot.reason : slot.message;
  }
  return slot.state === "joined" && readinessOf(slot, view) === "notReady"
    ? silenceOf(slot, view)
    : undefined;
}

function isOneOf(reasons: readonly Reason[], id: string): boolean {
  return reasons.some((reason) => reason.id === id);
}

function silenceOf(slot: SlotRecord, view: ClusterView): string | undefined {
  const node = nodeOf(slot, view);
  if (view.nowMs - (node?.readyChangedAtMs ?? slot.stateSinceMs) < silentMs) {
    return undefined;
  }
  if (node === undefined) {
    return "no longer a node of the cluster";
  }
  const why = node.readyMessage === "" ? node.readyReason : node.readyMessage;
  return why === "" ? "not ready" : `not ready: ${why}`;
}
