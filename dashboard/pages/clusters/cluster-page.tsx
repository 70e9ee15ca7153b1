import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { useWatch } from "../../live/use-watch.ts";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { StatusText } from "../../parts/status.tsx";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { client, hasRole } from "../../session.ts";
import { clusterKind } from "./cluster-kinds.tsx";
import { Created, nodesText } from "./cluster-list.tsx";
import { ClusterMachines } from "./cluster-machines.tsx";
import { ClusterPools } from "./cluster-pools.tsx";
import { clusterStatus } from "./cluster-status.ts";
import { Kubeconfig } from "./kubeconfig.tsx";
import { wholeClusters } from "./whole-clusters.ts";

/** One cluster, live: its status, its pools and its machines. */
export function ClusterPage({ name }: { readonly name: string }) {
  return (
    <ResourcePage
      kind={clusterKind}
      name={`clusters/${name}`}
      title={name}
      parent={{ title: "Clusters", path: "/clusters" }}
      tilesOf={tilesOf}
      Now={Now}
      tabs={hasRole(Role.OPERATOR) ? [{ id: "kubeconfig", title: "Kubeconfig", Body: KubeconfigTab }] : []}
    />
  );
}

function tilesOf(cluster: Resource): readonly Tile[] {
  const { kind, text } = clusterStatus(cluster.state);
  const { message, control_plane_version: controlPlane } = cluster.properties;
  const version = cluster.labels.k8s_version;
  return [
    {
      label: "Status",
      value: <StatusText kind={kind}>{text}</StatusText>,
      ...(message === undefined ? {} : { note: message }),
    },
    { label: "Nodes", value: nodesText(cluster), note: "joined, of those desired" },
    {
      label: "Kubernetes",
      value: version ?? "—",
      ...(controlPlane === undefined || controlPlane === version
        ? {}
        : { note: `control plane ${controlPlane}` }),
    },
    { label: "API servers", value: cluster.labels.endpoint ?? "—" },
    { label: "Created", value: <Created of={cluster} /> },
  ];
}

function Now({ resource: { title } }: { readonly resource: Resource }) {
  const watching = useWatch(
    (options) => wholeClusters(client.clusters.watchClusters({ names: [title] }, options)),
    { key: title },
  );
  return (
    <>
      <ReadState of={watching}>{([cluster]) => cluster && <ClusterPools of={cluster} />}</ReadState>
      <ClusterMachines cluster={title} />
    </>
  );
}

function KubeconfigTab({ resource }: { readonly resource: Resource }) {
  return <Kubeconfig cluster={resource.title} />;
}
