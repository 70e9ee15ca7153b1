import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { parseSize } from "../../parts/form/parse-size.ts";
import { useSizeInput } from "../../parts/form/size-input.ts";
import { TextField } from "../../parts/form/text-field.tsx";

const { expandStoragePool, shrinkStoragePool, backUpStoragePool } = StoragePoolService.method;

/** Adds spare devices to the storage pool. @param name the pool's name */
export function ExpandPool({ name }: { readonly name: string }) {
  const { text, size, error } = useSizeInput("", (typed) => parseSize(typed));
  return (
    <ChangeForm
      title={`Expand the storage pool ${name}`}
      label="Expand"
      method={expandStoragePool}
      request={size === undefined ? undefined : { minBytes: size }}
      fields={["min_bytes"]}
      fieldOfReason={{ POOL_CANNOT_GROW: "min_bytes" }}
    >
      {({ errorOf }) => (
        <TextField
          label="Expand by at least"
          value={text}
          hint="Such as 100 GiB. Adds the smallest set of spare devices that is large enough."
          error={error ?? errorOf("min_bytes")}
          required
        />
      )}
    </ChangeForm>
  );
}

/** Removes devices from the storage pool. @param name the pool's name */
export function ShrinkPool({ name }: { readonly name: string }) {
  const { text, size, error } = useSizeInput("", (typed) => parseSize(typed));
  return (
    <ChangeForm
      title={`Shrink the storage pool ${name}`}
      label="Shrink"
      method={shrinkStoragePool}
      request={size === undefined ? undefined : { maxBytes: size }}
      fields={["max_bytes"]}
      fieldOfReason={{ POOL_CANNOT_SHRINK: "max_bytes" }}
    >
      {({ errorOf }) => (
        <TextField
          label="Shrink by at most"
          value={text}
          hint="Such as 100 GiB. Data is moved to the other devices first."
          error={error ?? errorOf("max_bytes")}
          required
        />
      )}
    </ChangeForm>
  );
}

/** Backs up all volumes of the storage pool. @param name the pool's name */
export function BackUpPool({ name }: { readonly name: string }) {
  return (
    <ChangeForm
      title={`Back up the storage pool ${name}`}
      label="Back up"
      method={backUpStoragePool}
      request={{}}
    >
      {() => <p>Backs up every volume of the pool to the configured repository.</p>}
    </ChangeForm>
  );
}
