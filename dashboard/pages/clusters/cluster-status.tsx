import { ClusterStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";

const shown: Readonly<Record<number, { readonly tone: Tone; readonly text: string }>> = {
  [ClusterStatus.PROVISIONING]: { tone: "busy", text: "creating" },
  [ClusterStatus.RUNNING]: { tone: "ok", text: "running" },
  [ClusterStatus.RECONCILING]: { tone: "busy", text: "updating" },
  [ClusterStatus.STOPPING]: { tone: "off", text: "deleting" },
  [ClusterStatus.ERROR]: { tone: "bad", text: "error" },
  [ClusterStatus.DEGRADED]: { tone: "warn", text: "degraded" },
};

/** A cluster's status in words; the number for a status of a newer gateway. */
export function ClusterStatusBadge({ status }: { readonly status: ClusterStatus }) {
  const { tone, text } = shown[status] ?? { tone: "off", text: `status ${status}` };
  return <Badge tone={tone}>{text}</Badge>;
}
