import { useSignal } from "@preact/signals";
import {
  type StoragePool,
  StoragePoolKind,
  StoragePoolService,
} from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { propose } from "../../action/action.ts";
import { type ProposalForm, useProposal } from "../../action/use-proposal.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { bytesFromGib } from "./bytes-from-gib.ts";

const { expandStoragePool, shrinkStoragePool, backUpStoragePool } = StoragePoolService.method;

/** Grows and shrinks the pool, and backs up all its volumes. */
export function ChangeStoragePool({ of: { name, kind } }: { readonly of: StoragePool }) {
  const growing = useProposal(["min_bytes"], { POOL_CANNOT_GROW: "min_bytes" });
  const shrinking = useProposal(["max_bytes"], { POOL_CANNOT_SHRINK: "max_bytes" });
  return (
    <div class="stack">
      {kind === StoragePoolKind.VOLUME_GROUP && (
        <div class="cards">
          <SizeForm
            verb="Grow"
            label="Grow by at least (GiB)"
            hint="Adds the smallest set of spare devices that is large enough."
            form={growing}
            field="min_bytes"
            onSubmit={(minBytes) =>
              growing.submit({
                title: `Grow ${name}`,
                label: "Grow",
                method: expandStoragePool,
                request: { minBytes },
              })
            }
          />
          <SizeForm
            verb="Shrink"
            label="Shrink by at most (GiB)"
            hint="Data is moved to other devices first; a device in use is never removed."
            form={shrinking}
            field="max_bytes"
            onSubmit={(maxBytes) =>
              shrinking.submit({
                title: `Shrink ${name}`,
                label: "Shrink",
                method: shrinkStoragePool,
                request: { maxBytes },
                isDangerous: true,
              })
            }
          />
        </div>
      )}
      <div class="row">
        <button
          type="button"
          onClick={() =>
            propose({
              title: `Back up ${name}`,
              label: "Back up",
              method: backUpStoragePool,
              request: {},
            })
          }
        >
          Back up the pool …
        </button>
        <span class="quiet">Backs up every volume of the pool to the configured repository.</span>
      </div>
    </div>
  );
}

function SizeForm(props: {
  readonly verb: string;
  readonly label: string;
  readonly hint: string;
  readonly form: ProposalForm;
  /** Field of the request that the form asks for. */
  readonly field: string;
  readonly onSubmit: (bytes: bigint) => Promise<void>;
}) {
  const { verb, label, hint, form, field, onSubmit } = props;
  const gib = useSignal("");
  const bytes = bytesFromGib(gib.value);
  const isWrong = gib.value !== "" && bytes === undefined;
  return (
    <form
      class="stack"
      aria-label={`${verb} the storage pool`}
      onSubmit={(event) => {
        event.preventDefault();
        if (bytes !== undefined) {
          void onSubmit(bytes);
        }
      }}
    >
      <TextField
        label={label}
        value={gib}
        hint={hint}
        error={isWrong ? "Expected a number of GiB, such as 10 or 0.5" : form.errorOf(field)}
        required
      />
      {form.error !== undefined && <ErrorNote error={form.error} />}
      <button type="submit" disabled={bytes === undefined || form.isChecking}>
        {verb} …
      </button>
    </form>
  );
}
