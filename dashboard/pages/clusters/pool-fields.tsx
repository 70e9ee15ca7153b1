import { SelectField } from "../../parts/select-field.tsx";
import { TextField } from "../../parts/text-field.tsx";
import type { PoolDraft } from "./pool-draft.ts";

/** What machines can be asked for: tags of MAAS. */
export const instanceTypes = [
  { value: "standard", text: "standard" },
  { value: "gpu", text: "gpu" },
] as const;

/** Kubernetes is made for no more. */
const maxMachines = 5000;

/** Asks what a node pool is to be. */
export function PoolFields({ of: pool }: { readonly of: PoolDraft }) {
  return (
    <div class="cluster-fields">
      <TextField label="Pool name" value={pool.name} required />
      <TextField label="Machines" type="number" min={1} max={maxMachines} value={pool.count} required />
      <SelectField label="Instance type" value={pool.instanceType} options={instanceTypes} />
      <TextField label="Labels" value={pool.labels} hint="Any number, such as tier=web disk=ssd" />
    </div>
  );
}
