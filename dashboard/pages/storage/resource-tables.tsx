import type { CallOptions } from "@connectrpc/connect";
import type { ResourceInfo } from "../../../gen/resources/stats/stats_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { isOff } from "../../parts/is-off.ts";
import { ReadState } from "../../parts/read-state.tsx";
import { client } from "../../session.ts";
import { ReliabilityBadge, StatusBadge } from "./resource-text.tsx";

/** A resource; if its number of replicas is unknown, the contract returns 0. */
type Resource = ResourceInfo & { readonly areReplicasKnown: boolean };

const columns: readonly Column<Resource>[] = [
  { title: "Name", cell: ({ name }) => name },
  { title: "Kind", cell: ({ kind }) => kind },
  { title: "Namespace", cell: ({ namespace }) => namespace },
  { title: "Status", cell: ({ status }) => <StatusBadge of={status} /> },
  {
    title: "Desired replicas",
    isNumber: true,
    cell: ({ replicas, areReplicasKnown }) =>
      areReplicasKnown ? replicas : <span class="quiet">not known</span>,
  },
  { title: "Reliability", cell: ({ reliability }) => <ReliabilityBadge of={reliability} /> },
];

/** The cluster's Kubernetes resources. */
export function ResourceTables() {
  const { reading, reload } = useRead(readResources, { topics: ["storage"] });
  if (isOff(reading.value)) {
    return null;
  }
  return (
    <section class="card stack wide-table">
      <ReadState of={reading}>
        {({ resources, deployments }) => (
          <>
            <ResourceTable caption="Storage resources of Kubernetes" rows={resources} />
            <ResourceTable caption="Deployments" rows={deployments} />
          </>
        )}
      </ReadState>
      <div class="row">
        <button type="button" onClick={reload}>
          Refresh
        </button>
        <span class="quiet">Changes in Kubernetes are not shown live.</span>
      </div>
    </section>
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
  const known = (one: ResourceInfo): Resource => ({ ...one, areReplicasKnown: !isNamed || one.replicas > 0 });
  return { resources: resources.map(known), deployments: deployments.map(known) };
}

function ResourceTable({ caption, rows }: { readonly caption: string; readonly rows: readonly Resource[] }) {
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={rows}
      keyOf={({ kind, namespace, name }) => `${kind}/${namespace}/${name}`}
      empty="None."
    />
  );
}
