import { useMemo } from "preact/hooks";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { createPoolDraft, poolFromDraft } from "./pool-draft.ts";
import { PoolFields } from "./pool-fields.tsx";

/** Adds a node pool to a cluster. */
export function AddPool({ cluster }: { readonly cluster: string }) {
  const draft = useMemo(() => createPoolDraft(""), []);
  const pool = poolFromDraft(draft);
  return (
    <ChangeForm
      title={`Add the node pool ${pool.name}`}
      label="Add"
      method={Cluster.method.addNodePool}
      request={pool.name === "" ? undefined : { clusterName: cluster, workerNodePools: [pool] }}
    >
      {() => <PoolFields of={draft} />}
    </ChangeForm>
  );
}
