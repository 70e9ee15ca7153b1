import { Link } from "wouter-preact";
import type { ClusterPool, ClusterState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { useWatch } from "../../live/use-watch.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { RunningOperations } from "../../parts/operation-list.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, hasRole } from "../../session.ts";
import { ClusterStatusBadge } from "./cluster-status.tsx";
import { CreateCluster } from "./create-cluster.tsx";
import { Strays } from "./strays.tsx";
import { wholeClusters } from "./whole-clusters.ts";

/** All clusters, live, with a form to create one, and the machines that belong to no cluster. */
export function ClusterList() {
  const watching = useWatch((options) => wholeClusters(client.clusters.watchClusters({}, options)));
  return (
    <>
      <h1>Clusters</h1>
      <DomainNotice domain="clusters" />
      <RunningOperations kinds={["clusters"]} />
      <section class="card">
        <ReadState of={watching}>{(clusters) => <ClusterTable of={clusters} />}</ReadState>
      </section>
      {hasRole(Role.OPERATOR) && <CreateCluster />}
      <Strays />
    </>
  );
}

function ClusterTable({ of: clusters }: { readonly of: readonly ClusterState[] }) {
  return (
    <DataTable
      caption="Kubernetes clusters"
      columns={[
        { title: "Name", cell: ({ name }) => <Link href={`/${name}`}>{name}</Link> },
        { title: "Status", cell: ({ status }) => <ClusterStatusBadge status={status} /> },
        { title: "Activity", cell: ({ statusMessage }) => statusMessage },
        { title: "Kubernetes", cell: ({ k8sVersion }) => k8sVersion },
        { title: "Control plane", cell: ({ controlPlane }) => nodesText(controlPlane) },
        {
          title: "Node pools",
          cell: ({ pools }) =>
            pools.map((pool) => (
              <div key={pool.name}>
                {pool.name}: {nodesText(pool)}
              </div>
            )),
        },
        { title: "Created", cell: ({ createdAt }) => <TimeText at={createdAt} /> },
      ]}
      rows={clusters}
      keyOf={({ name }) => name}
      empty={
        hasRole(Role.OPERATOR)
          ? "No clusters yet. Create the first one below."
          : "No clusters yet. An operator can create one."
      }
    />
  );
}

function nodesText(pool: ClusterPool | undefined): string {
  return pool === undefined ? "not known" : `${pool.ready} of ${pool.wanted} ready`;
}
