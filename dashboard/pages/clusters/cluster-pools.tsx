import { lazy } from "preact/compat";
import { Cluster, ClusterStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterPool, ClusterState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import type { RowAction } from "../../parts/table/table-props.ts";
import { hasRole } from "../../session.ts";
import { openPanel } from "../../shell/side-panel.tsx";

const columns: readonly Column<ClusterPool>[] = [
  { id: "name", title: "Pool", cell: poolTitle },
  {
    id: "type",
    title: "Instance type",
    width: "medium",
    cell: ({ instanceType }) => instanceType,
    onCard: "place",
  },
  { id: "desired", title: "Desired", width: "figure", rank: 2, isNumber: true, cell: ({ wanted }) => wanted },
  {
    id: "machines",
    title: "Machines",
    width: "figure",
    rank: 2,
    isNumber: true,
    cell: ({ machines }) => machines,
  },
  {
    id: "nodes",
    title: "Nodes",
    width: "figure",
    isNumber: true,
    cell: ({ ready, wanted }) => `${ready} of ${wanted}`,
    onCard: "figure",
  },
];

/** The control plane and the node pools of a cluster. Operators can scale and delete pools. */
export function ClusterPools({ of: cluster }: { readonly of: ClusterState }) {
  const { name, status, controlPlane, pools } = cluster;
  const mayChange = hasRole(Role.OPERATOR) && status !== ClusterStatus.STOPPING;
  return (
    <>
      <h2>Node pools</h2>
      <DataTable
        name="pools"
        caption="Node pools"
        columns={columns}
        rows={[...(controlPlane === undefined ? [] : [controlPlane]), ...pools]}
        keyOf={(pool) => pool.name}
        titleOf={poolTitle}
        statusOf={({ ready, wanted, machines }) =>
          ready === wanted && machines === wanted
            ? { kind: "ok", text: "ready" }
            : { kind: "running", text: "changing" }
        }
        actions={mayChange ? actionsOf(name) : []}
        empty="No pools."
      />
    </>
  );
}

function actionsOf(cluster: string): readonly RowAction<ClusterPool>[] {
  return [
    {
      text: "Scale…",
      icon: "resize",
      key: "s",
      appliesTo: isWorkers,
      run: (pool) => {
        const ScalePool = lazy(async () => (await import("./scale-pool.tsx")).ScalePool);
        openPanel(`Scale ${pool.name}`, () => <ScalePool cluster={cluster} pool={pool} />);
      },
    },
    {
      text: "Delete pool…",
      icon: "trash",
      isDestructive: true,
      appliesTo: isWorkers,
      run: (pool) =>
        propose({
          title: `Delete the node pool ${pool.name}`,
          label: "Delete",
          method: Cluster.method.deleteNodePool,
          request: { clusterName: cluster, nodePoolNames: [pool.name] },
          isDangerous: true,
          confirmName: pool.name,
        }),
    },
  ];
}

function poolTitle({ name }: ClusterPool): string {
  return name === "" ? "control plane" : name;
}

function isWorkers({ name }: ClusterPool): boolean {
  return name !== "";
}
