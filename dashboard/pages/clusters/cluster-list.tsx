import { lazy } from "preact/compat";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { figureOf, resourcesOf } from "../../live/inventory.ts";
import { DomainNotice } from "../../parts/domain-notice.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Key } from "../../parts/key.tsx";
import { useKeys } from "../../parts/keys.ts";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { hasRole } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { openPanel } from "../../shell/side-panel.tsx";
import { clusterKind } from "./cluster-kinds.tsx";
import { clusterStatus } from "./cluster-status.ts";
import { Strays } from "./strays.tsx";

const CreateCluster = lazy(async () => (await import("./create-cluster.tsx")).CreateCluster);

const columns: readonly Column<Resource>[] = [
  { id: "name", title: "Name", cell: ({ title }) => title, sortBy: ({ title }) => title },
  {
    id: "status",
    title: "Status",
    width: "short",
    cell: statusText,
    sortBy: statusText,
    onCard: "place",
  },
  {
    id: "version",
    title: "Kubernetes",
    width: "short",
    cell: versionOf,
    sortBy: versionOf,
    onCard: "place",
  },
  {
    id: "nodes",
    title: "Nodes",
    width: "figure",
    isNumber: true,
    cell: nodesText,
    sortBy: (cluster) => figureOf(cluster, "ready_machines"),
    onCard: "figure",
  },
  {
    id: "endpoint",
    title: "Endpoint",
    width: "medium",
    rank: 2,
    cell: ({ labels }) => labels.endpoint ?? "—",
  },
  {
    id: "message",
    title: "Activity",
    width: "wide",
    cell: ({ properties }) => properties.message ?? "",
    onCard: "figure",
  },
  {
    id: "created",
    title: "Created",
    width: "time",
    isNumber: true,
    rank: 3,
    cell: (cluster) => <Created of={cluster} />,
    sortBy: (cluster) => figureOf(cluster, "created"),
  },
];

const filters: readonly Filter<Resource>[] = [
  { id: "status", title: "status", valuesOf: (cluster) => [statusText(cluster)] },
  { id: "version", title: "version", valuesOf: (cluster) => [versionOf(cluster)] },
];

/** All clusters, and the machines that belong to none. */
export function ClusterList() {
  const clusters = resourcesOf("cluster");
  const mayChange = hasRole(Role.OPERATOR);
  const create = () => openPanel("Create a cluster", CreateCluster);
  useKeys(mayChange ? [{ key: "c", does: "create a cluster", run: create }] : []);
  return (
    <Page title="Clusters" note={machinesText(clusters)}>
      <DomainNotice domain="clusters" />
      <DataTable
        caption="Clusters"
        columns={columns}
        rows={clusters}
        keyOf={({ name }) => name}
        titleOf={({ title }) => title}
        pathOf={clusterKind.pathOf}
        statusOf={({ state }) => clusterStatus(state)}
        textOf={(cluster) => `${statusText(cluster)} ${versionOf(cluster)} ${cluster.labels.endpoint ?? ""}`}
        filters={filters}
        actions={clusterKind.actions()}
        tools={
          mayChange && (
            <button type="button" class="main" onClick={create}>
              <Icon name="plus" /> Create <Key text="C" />
            </button>
          )
        }
        empty={
          <>
            <strong>No clusters yet</strong>
            <span>{mayChange ? "Create the first one." : "An operator can create one."}</span>
          </>
        }
      />
      <Strays />
    </Page>
  );
}

/** When a cluster was created. */
export function Created({ of: cluster }: { readonly of: Resource }) {
  const atSeconds = figureOf(cluster, "created");
  return atSeconds === undefined ? "—" : <TimeText atMs={atSeconds * 1000} />;
}

/** Says how many machines have joined as nodes, of those desired. */
export function nodesText(cluster: Resource): string {
  const [ready, wanted] = [figureOf(cluster, "ready_machines"), figureOf(cluster, "wanted_machines")];
  return ready === undefined || wanted === undefined ? "—" : `${ready} of ${wanted}`;
}

function statusText({ state }: Resource): string {
  return clusterStatus(state).text;
}

function versionOf({ labels }: Resource): string {
  return labels.k8s_version ?? "";
}

function machinesText(clusters: readonly Resource[]): string | undefined {
  const machines = clusters.reduce((sum, cluster) => sum + (figureOf(cluster, "machines") ?? 0), 0);
  return clusters.length === 0 ? undefined : `${machines} machines`;
}
