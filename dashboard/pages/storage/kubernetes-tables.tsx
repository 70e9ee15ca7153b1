import type { CallOptions } from "@connectrpc/connect";
import type { NodeInfo, ResourceInfo } from "../../../gen/resources/stats/stats_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { StatusText } from "../../parts/status.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client } from "../../session.ts";
import { reliabilityStatus, resourceStatus } from "./resource-status.ts";

/** A resource; if its number of replicas is unknown, the contract returns 0. */
type KubernetesResource = ResourceInfo & { readonly areReplicasKnown: boolean };

const nodeColumns: readonly Column<NodeInfo>[] = [
  { id: "name", title: "Node", cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: "status",
    title: "Status",
    width: "medium",
    cell: ({ status }) => resourceStatus(status).text,
    onCard: "place",
  },
  {
    id: "roles",
    title: "Roles",
    width: "medium",
    cell: ({ roles }) => roles.join(", ") || "—",
    onCard: "place",
  },
  {
    id: "internal",
    title: "Internal address",
    width: "medium",
    cell: ({ internalIp }) => internalIp || "—",
    onCard: "figure",
  },
  {
    id: "external",
    title: "External address",
    width: "medium",
    rank: 2,
    cell: ({ externalIp }) => externalIp || "—",
  },
  {
    id: "since",
    title: "Since",
    width: "time",
    isNumber: true,
    cell: ({ age }) => (age === undefined ? "—" : <TimeText at={age} />),
  },
];

const columns: readonly Column<KubernetesResource>[] = [
  { id: "name", title: "Name", cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: "kind",
    title: "Kind",
    width: "medium",
    cell: ({ kind }) => kind,
    sortBy: ({ kind }) => kind,
    onCard: "place",
  },
  {
    id: "namespace",
    title: "Namespace",
    width: "medium",
    rank: 2,
    cell: ({ namespace }) => namespace,
    onCard: "place",
  },
  {
    id: "status",
    title: "Status",
    width: "short",
    cell: ({ status }) => resourceStatus(status).text,
    onCard: "figure",
  },
  {
    id: "replicas",
    title: "Replicas",
    width: "figure",
    isNumber: true,
    cell: ({ replicas, areReplicasKnown }) => (areReplicasKnown ? replicas : "—"),
  },
  {
    id: "reliability",
    title: "Reliability",
    width: "medium",
    cell: ({ reliability }) => {
      const { kind, text } = reliabilityStatus(reliability);
      return <StatusText kind={kind}>{text}</StatusText>;
    },
    onCard: "figure",
  },
];

/** The nodes that run the cluster, and its resources in Kubernetes. */
export function KubernetesTables() {
  const nodes = useRead((options) => client.stats.getClusterNodes({}, options), { topics: ["storage"] });
  const resources = useRead(readResources, { topics: ["storage"] });
  const reload = () => {
    nodes.reload();
    resources.reload();
  };
  return (
    <>
      <div class="row">
        <button type="button" onClick={reload}>
          Refresh
        </button>
        <span class="quiet">Changes in Kubernetes are not shown live.</span>
      </div>
      {!isOff(nodes.reading.value) && (
        <ReadState of={nodes.reading}>
          {({ nodes: rows }) => (
            <>
              <h2>Nodes</h2>
              <DataTable
                name="nodes"
                caption="Nodes"
                columns={nodeColumns}
                rows={rows}
                keyOf={({ name }) => name}
                titleOf={({ name }) => name}
                statusOf={({ status }) => resourceStatus(status)}
                empty="No node runs a daemon of the cluster."
              />
            </>
          )}
        </ReadState>
      )}
      {!isOff(resources.reading.value) && (
        <ReadState of={resources.reading}>
          {({ resources: rows, deployments }) => (
            <>
              <h2>Storage resources</h2>
              <ResourceTable name="resources" caption="Storage resources" rows={rows} />
              <h2>Deployments</h2>
              <ResourceTable name="deployments" caption="Deployments" rows={deployments} />
            </>
          )}
        </ReadState>
      )}
    </>
  );
}

/** The header says that some replica counts are unknown. Those are 0, and a count is 0 only if it is unknown. */
async function readResources(options: CallOptions) {
  let missing: readonly string[] = [];
  const { resources, deployments } = await client.stats.getClusterResources(
    {},
    {
      ...options,
      onHeader: (headers) => {
        missing = headers.get("hostplane-missing")?.split(", ") ?? [];
      },
    },
  );
  const isNamed = missing.includes("resources.replicas");
  const known = (one: ResourceInfo): KubernetesResource => ({
    ...one,
    areReplicasKnown: !isNamed || one.replicas > 0,
  });
  return { resources: resources.map(known), deployments: deployments.map(known) };
}

function ResourceTable(props: {
  readonly name: string;
  readonly caption: string;
  readonly rows: readonly KubernetesResource[];
}) {
  return (
    <DataTable
      {...props}
      columns={columns}
      keyOf={({ kind, namespace, name }) => `${kind}/${namespace}/${name}`}
      titleOf={({ name }) => name}
      statusOf={({ status }) => resourceStatus(status)}
      textOf={({ kind, namespace }) => `${kind} ${namespace}`}
      filters={[{ id: "kind", title: "kind", valuesOf: ({ kind }) => [kind] }]}
      empty="None."
    />
  );
}
