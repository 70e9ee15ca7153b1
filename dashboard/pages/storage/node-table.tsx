import type { NodeInfo } from "../../../gen/resources/stats/stats_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { StatusBadge } from "./resource-text.tsx";

const notKnown = <span class="quiet">not known</span>;

const columns: readonly Column<NodeInfo>[] = [
  { title: "Node", cell: ({ name }) => name },
  { title: "Status", cell: ({ status }) => <StatusBadge of={status} /> },
  { title: "Roles", cell: ({ roles }) => roles.join(", ") || <span class="quiet">not known</span> },
  {
    title: "Internal address",
    cell: ({ internalIp }) => (internalIp ? <code>{internalIp}</code> : notKnown),
  },
  {
    title: "External address",
    cell: ({ externalIp }) => (externalIp ? <code>{externalIp}</code> : notKnown),
  },
  { title: "Since", cell: ({ age }) => (age === undefined ? notKnown : <TimeText at={age} />) },
];

/** The machines that run the cluster. Kubernetes nodes have no events, so they are read together with Ceph's data. */
export function NodeTable() {
  const { reading } = useRead((options) => client.stats.getClusterNodes({}, options), {
    topics: ["storage"],
  });
  if (isOff(reading.value)) {
    return null;
  }
  return (
    <section class="card wide-table">
      <ReadState of={reading}>
        {({ nodes }) => (
          <DataTable
            caption="Nodes"
            columns={columns}
            rows={nodes}
            keyOf={({ name }) => name}
            empty="No node runs a daemon of the cluster."
          />
        )}
      </ReadState>
    </section>
  );
}
