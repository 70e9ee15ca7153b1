import { useSignal } from "@preact/signals";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { useProposal } from "../../action/use-proposal.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { createPoolDraft, poolFromDraft } from "./pool-draft.ts";
import { PoolFields } from "./pool-fields.tsx";

/** Adds a node pool to a cluster. */
export function AddPool({ cluster }: { readonly cluster: string }) {
  const draft = useSignal(createPoolDraft(""));
  const form = useProposal([]);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const pool = poolFromDraft(draft.value);
    void form.submit({
      title: `Add the node pool ${pool.name}`,
      label: "Add",
      method: Cluster.method.addNodePool,
      request: { clusterName: cluster, workerNodePools: [pool] },
      onDone: () => {
        draft.value = createPoolDraft("");
      },
    });
  }

  return (
    <details>
      <summary>Add a node pool</summary>
      <form class="stack" aria-label="Add a node pool" onSubmit={submit}>
        <PoolFields of={draft.value} />
        {form.error !== undefined && <ErrorNote error={form.error} />}
        <button type="submit" class="main" disabled={form.isChecking}>
          Add …
        </button>
      </form>
    </details>
  );
}
