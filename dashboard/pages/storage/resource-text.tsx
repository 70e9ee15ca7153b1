import { ReliabilityScore, ResourceStatus } from "../../../gen/resources/stats/stats_pb.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";

type Shown = { readonly tone: Tone; readonly text: string };

const unknown: Shown = { tone: "off", text: "not known" };

const statuses: Readonly<Record<number, Shown>> = {
  [ResourceStatus.RESOURCE_READY]: { tone: "ok", text: "ready" },
  [ResourceStatus.RESOURCE_PROGRESSING]: { tone: "busy", text: "in progress" },
  [ResourceStatus.RESOURCE_NOT_READY]: { tone: "bad", text: "not ready" },
};

const reliabilities: Readonly<Record<number, Shown>> = {
  [ReliabilityScore.RELIABILITY_NONE]: { tone: "bad", text: "none" },
  [ReliabilityScore.RELIABILITY_DEGRADED]: { tone: "warn", text: "degraded" },
  [ReliabilityScore.RELIABILITY_OK]: { tone: "ok", text: "ok" },
};

/** Shows whether a node or a resource is usable. */
export function StatusBadge({ of }: { readonly of: ResourceStatus }) {
  const { tone, text } = statuses[of] ?? unknown;
  return <Badge tone={tone}>{text}</Badge>;
}

/** Shows how well a resource would survive the loss of a node. */
export function ReliabilityBadge({ of }: { readonly of: ReliabilityScore }) {
  const { tone, text } = reliabilities[of] ?? unknown;
  return <Badge tone={tone}>{text}</Badge>;
}
