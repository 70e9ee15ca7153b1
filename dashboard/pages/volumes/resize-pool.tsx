import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { figureOf } from "../../live/inventory.ts";
import { TextField } from "../../parts/form/text-field.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { useSizeGib } from "./size-input.ts";
import { groupOf } from "./volume-facts.ts";

/** Grows the data space of a thin pool. */
export function ResizePool({ pool }: { readonly pool: Resource }) {
  const sizeBytes = figureOf(pool, "size") ?? 0;
  const size = useSizeGib(sizeText(sizeBytes));
  const isNew = size.gib !== undefined && Number(size.gib) * 2 ** 30 !== sizeBytes;
  return (
    <ChangeForm
      title={`Grow the thin pool ${pool.title}`}
      label={isNew ? `Grow to ${sizeText(size.gib << 30n)}` : "Grow"}
      method={VolumeService.method.resizeThinPool}
      request={
        isNew ? { name: pool.title, volumeGroup: groupOf(pool), sizeBytes: size.gib << 30n } : undefined
      }
      fields={["size_bytes"]}
      fieldOfReason={{ NO_SPACE: "size_bytes", SHRINK_NOT_ALLOWED: "size_bytes" }}
    >
      {({ errorOf }) => (
        <TextField
          label="New size"
          value={size.text}
          hint={`Now ${sizeText(sizeBytes)}. A pool can only grow.`}
          error={size.error ?? errorOf("size_bytes")}
          required
        />
      )}
    </ChangeForm>
  );
}
