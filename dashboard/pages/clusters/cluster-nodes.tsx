import type { GetClusterNodesStatusReply_MachineStatus as NodeStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";

const columns: readonly Column<NodeStatus>[] = [
  { title: "Node", cell: ({ maasHostname, maasSystemId }) => maasHostname || maasSystemId },
  {
    title: "Kubernetes status",
    cell: ({ k8sNodeStatus }) => <Badge tone={nodeTone(k8sNodeStatus)}>{k8sNodeStatus || "not known"}</Badge>,
  },
  { title: "MAAS status", cell: ({ maasNodeStatus }) => maasNodeStatus || "not known" },
  { title: "Version", cell: ({ k8sVersion }) => k8sVersion },
  { title: "IP address", cell: ({ maasIPAddr }) => maasIPAddr !== "" && <code>{maasIPAddr}</code> },
];

/** The nodes of a cluster with their current status in Kubernetes and MAAS. */
export function ClusterNodes({ cluster }: { readonly cluster: string }) {
  const { reading, reload } = useRead(
    (options) => client.kaas.getClusterNodesStatus({ clusterName: cluster }, options),
    { topics: ["clusters"], key: cluster },
  );
  return (
    <section class="card stack">
      <ReadState of={reading}>
        {({ machines }) => (
          <DataTable
            caption="Nodes"
            columns={columns}
            rows={machines}
            keyOf={({ maasSystemId, maasHostname }) => maasSystemId || maasHostname}
            empty="No machine has become a node yet."
          />
        )}
      </ReadState>
      <button type="button" onClick={reload} disabled={reading.value.isReading}>
        Refresh
      </button>
    </section>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  Ready: "ok",
  NotReady: "bad",
  ErrorMachine: "bad",
  Unknown: "off",
  "": "off",
};

/** Returns the tone of a status such as "NotReady: its kubelet is silent". Other texts occur while a machine joins or leaves. */
function nodeTone(status: string): Tone {
  return tones[status.split(":", 1)[0] ?? ""] ?? "busy";
}
