import { useSignal } from "@preact/signals";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterPool } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { maxMachines } from "./pool-fields.tsx";

/** Changes the number of machines of a node pool. */
export function ScalePool({ cluster, pool }: { readonly cluster: string; readonly pool: ClusterPool }) {
  const { name, wanted } = pool;
  const text = useSignal(`${wanted}`);
  const count = Number(text.value);
  const isNew = Number.isInteger(count) && count > 0 && count !== wanted;
  return (
    <ChangeForm
      title={`Scale the node pool ${name} to ${count}`}
      label={isNew ? `Scale to ${count}` : "Scale"}
      method={Cluster.method.scaleNodePool}
      request={isNew ? { clusterName: cluster, nodePools: [{ name, count }] } : undefined}
      fields={["node_pools"]}
      confirmName={name}
    >
      {({ errorOf }) => (
        <TextField
          label="Machines"
          type="number"
          min={1}
          max={maxMachines}
          value={text}
          hint={`Now ${wanted}`}
          error={errorOf("node_pools")}
          required
        />
      )}
    </ChangeForm>
  );
}
