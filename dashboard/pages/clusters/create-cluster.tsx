import { useSignal } from "@preact/signals";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { createPoolDraft, type PoolDraft, poolFromDraft } from "./pool-draft.ts";
import { instanceTypes, PoolFields } from "./pool-fields.tsx";

const controlPlaneCounts = ["1", "3", "5"].map((count) => ({
  value: count,
  text: count === "1" ? "1 machine" : `${count} machines`,
}));

/** Creates a cluster with its control plane and node pools. */
export function CreateCluster() {
  const name = useSignal("");
  const version = useSignal("");
  const controlPlaneCount = useSignal("1");
  const controlPlaneType = useSignal("standard");
  const pools = useSignal<readonly PoolDraft[]>([createPoolDraft("workers")]);
  const isComplete = name.value.trim() !== "" && version.value.trim() !== "";
  return (
    <ChangeForm
      title={`Create the cluster ${name.value}`}
      label="Create"
      method={Cluster.method.createCluster}
      request={
        isComplete
          ? {
              name: name.value.trim(),
              k8sVersion: version.value.trim(),
              controlPlaneNodes: {
                count: Number(controlPlaneCount.value),
                instanceType: controlPlaneType.value,
              },
              workerNodePools: pools.value.map(poolFromDraft),
            }
          : undefined
      }
      fields={["name", "k8s_version"]}
      fieldOfReason={{ CLUSTER_EXISTS: "name" }}
    >
      {({ errorOf }) => (
        <>
          <TextField label="Name" value={name} error={errorOf("name")} required />
          <TextField
            label="Kubernetes version"
            value={version}
            hint="For example 1.36.3; MAAS must have an image of it"
            error={errorOf("k8s_version")}
            required
          />
          <SelectField label="Control plane" value={controlPlaneCount} options={controlPlaneCounts} />
          <SelectField label="Control plane's type" value={controlPlaneType} options={instanceTypes} />
          <Pools
            of={pools.value}
            onChange={(changed) => {
              pools.value = changed;
            }}
          />
        </>
      )}
    </ChangeForm>
  );
}

function Pools(props: {
  readonly of: readonly PoolDraft[];
  readonly onChange: (pools: readonly PoolDraft[]) => void;
}) {
  const { of: pools, onChange } = props;
  return (
    <>
      {pools.map((pool, index) => (
        <fieldset key={pool.key} class="stack">
          <legend>Node pool {index + 1}</legend>
          <PoolFields of={pool} />
          <button type="button" class="small" onClick={() => onChange(pools.filter((each) => each !== pool))}>
            Remove node pool {index + 1}
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        class="small"
        onClick={() => onChange([...pools, createPoolDraft(`pool-${pools.length + 1}`)])}
      >
        <Icon name="plus" /> Node pool
      </button>
    </>
  );
}
