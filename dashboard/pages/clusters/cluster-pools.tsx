import { useSignal } from "@preact/signals";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterPool, ClusterState } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { hasRole } from "../../session.ts";
import { AddPool } from "./add-pool.tsx";

const columns: readonly Column<ClusterPool>[] = [
  { title: "Pool", cell: ({ name }) => (name === "" ? "control plane" : name) },
  { title: "Instance type", cell: ({ instanceType }) => instanceType },
  { title: "Desired", cell: ({ wanted }) => wanted, isNumber: true },
  { title: "Machines", cell: ({ machines }) => machines, isNumber: true },
  { title: "Nodes", cell: ({ ready }) => ready, isNumber: true },
];

/** The control plane and the node pools of a cluster. Operators can scale, add and delete pools. */
export function ClusterPools({ of: { name, controlPlane, pools } }: { readonly of: ClusterState }) {
  const mayChange = hasRole(Role.OPERATOR);
  const change = {
    title: "Change",
    cell: (pool: ClusterPool) => pool.name !== "" && <ChangePool cluster={name} pool={pool} />,
  };
  return (
    <section class="card stack">
      <DataTable
        caption="Node pools"
        columns={mayChange ? [...columns, change] : columns}
        rows={[...(controlPlane === undefined ? [] : [controlPlane]), ...pools]}
        keyOf={(pool) => pool.name}
        empty="No pools."
      />
      {mayChange && <AddPool cluster={name} />}
    </section>
  );
}

function ChangePool(props: { readonly cluster: string; readonly pool: ClusterPool }) {
  const { cluster, pool } = props;
  const count = useSignal(`${pool.wanted}`);
  const desired = Number(count.value);
  return (
    <form
      class="row"
      aria-label={`Scale ${pool.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        propose({
          title: `Scale the node pool ${pool.name} to ${desired}`,
          label: "Scale",
          method: Cluster.method.scaleNodePool,
          request: { clusterName: cluster, nodePools: [{ name: pool.name, count: desired }] },
          isDangerous: desired < pool.wanted,
        });
      }}
    >
      <span class="field">
        <input
          aria-label={`Machines of ${pool.name}`}
          type="number"
          min={1}
          max={5000}
          required
          value={count.value}
          onInput={({ currentTarget }) => {
            count.value = currentTarget.value;
          }}
        />
      </span>
      <button type="submit" class="small" disabled={desired === pool.wanted}>
        Scale
      </button>
      <button
        type="button"
        class="small danger"
        aria-label={`Delete ${pool.name}`}
        onClick={() =>
          propose({
            title: `Delete the node pool ${pool.name}`,
            label: "Delete",
            method: Cluster.method.deleteNodePool,
            request: { clusterName: cluster, nodePoolNames: [pool.name] },
            isDangerous: true,
          })
        }
      >
        Delete
      </button>
    </form>
  );
}
