import { useSignal } from "@preact/signals";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { useProposal } from "../../action/use-proposal.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { createPoolDraft, type PoolDraft, poolFromDraft } from "./pool-draft.ts";
import { instanceTypes, PoolFields } from "./pool-fields.tsx";
import "./clusters.css";

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
  const form = useProposal(["name", "k8s_version", "control_plane_nodes.count"], { CLUSTER_EXISTS: "name" });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    void form.submit({
      title: `Create the cluster ${name.value}`,
      label: "Create",
      method: Cluster.method.createCluster,
      request: {
        name: name.value.trim(),
        k8sVersion: version.value.trim(),
        controlPlaneNodes: { count: Number(controlPlaneCount.value), instanceType: controlPlaneType.value },
        workerNodePools: pools.value.map(poolFromDraft),
      },
      onDone: () => {
        name.value = "";
      },
    });
  }

  return (
    <details class="card">
      <summary>
        <h2>Create a cluster</h2>
      </summary>
      <form class="stack" aria-label="Create a cluster" onSubmit={submit}>
        <div class="cluster-fields">
          <TextField label="Name" value={name} error={form.errorOf("name")} required />
          <TextField
            label="Kubernetes version"
            value={version}
            hint="For example 1.36.3; MAAS must have an image of it"
            error={form.errorOf("k8s_version")}
            required
          />
          <SelectField label="Control plane" value={controlPlaneCount} options={controlPlaneCounts} />
          <SelectField label="Control plane's type" value={controlPlaneType} options={instanceTypes} />
        </div>
        {pools.value.map((pool, index) => (
          <fieldset key={pool.key}>
            <legend>Node pool {index + 1}</legend>
            <PoolFields of={pool} />
            <button
              type="button"
              onClick={() => {
                pools.value = pools.value.filter((each) => each !== pool);
              }}
            >
              Remove node pool {index + 1}
            </button>
          </fieldset>
        ))}
        {form.error !== undefined && <ErrorNote error={form.error} />}
        <div class="row">
          <button
            type="button"
            onClick={() => {
              pools.value = [...pools.value, createPoolDraft(`pool-${pools.value.length + 1}`)];
            }}
          >
            Add a node pool
          </button>
          <button type="submit" class="main" disabled={form.isChecking}>
            Create …
          </button>
        </div>
      </form>
    </details>
  );
}
