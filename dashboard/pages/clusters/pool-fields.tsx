import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import type { PoolDraft } from "./pool-draft.ts";

/** The available instance types: MAAS tags. */
export const instanceTypes = [
  { value: "standard", text: "standard" },
  { value: "gpu", text: "gpu" },
] as const;

/** The largest cluster that Kubernetes supports. */
export const maxMachines = 5000;

/** The fields of a node pool. */
export function PoolFields({ of: pool }: { readonly of: PoolDraft }) {
  return (
    <>
      <TextField label="Pool name" value={pool.name} required />
      <TextField label="Machines" type="number" min={1} max={maxMachines} value={pool.count} required />
      <SelectField label="Instance type" value={pool.instanceType} options={instanceTypes} />
      <TextField label="Labels" value={pool.labels} hint="Optional, for example tier=web disk=ssd" />
    </>
  );
}
