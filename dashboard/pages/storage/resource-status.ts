import { ReliabilityScore, ResourceStatus } from "../../../gen/resources/stats/stats_pb.ts";
import type { StatusKind } from "../../parts/status.tsx";

interface Shown {
  readonly kind: StatusKind;
  readonly text: string;
}

const unknown: Shown = { kind: "unknown", text: "not known" };

const statuses: Readonly<Record<number, Shown>> = {
  [ResourceStatus.RESOURCE_READY]: { kind: "ok", text: "ready" },
  [ResourceStatus.RESOURCE_PROGRESSING]: { kind: "running", text: "in progress" },
  [ResourceStatus.RESOURCE_NOT_READY]: { kind: "failed", text: "not ready" },
};

const reliabilities: Readonly<Record<number, Shown>> = {
  [ReliabilityScore.RELIABILITY_NONE]: { kind: "failed", text: "none" },
  [ReliabilityScore.RELIABILITY_DEGRADED]: { kind: "warn", text: "degraded" },
  [ReliabilityScore.RELIABILITY_OK]: { kind: "ok", text: "ok" },
};

/** Describes whether a node or a resource of Kubernetes is usable. */
export function resourceStatus(status: ResourceStatus): Shown {
  return statuses[status] ?? unknown;
}

/** Describes how well a resource would survive the loss of a node. */
export function reliabilityStatus(score: ReliabilityScore): Shown {
  return reliabilities[score] ?? unknown;
}
