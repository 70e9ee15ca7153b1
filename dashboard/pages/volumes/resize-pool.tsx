import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { figureOf } from "../../live/inventory.ts";
import { TextField } from "../../parts/form/text-field.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { useNewSize } from "./size-input.ts";
import { groupOf, roomText } from "./volume-facts.ts";

/** Grows the data space of a thin pool. */
export function ResizePool({ pool }: { readonly pool: Resource }) {
  const sizeBytes = figureOf(pool, "size") ?? 0;
  const { text, error, newBytes } = useNewSize(sizeBytes);
  return (
    <ChangeForm
      title={`Grow the thin pool ${pool.title}`}
      label={newBytes === undefined ? "Grow" : `Grow to ${sizeText(newBytes)}`}
      method={VolumeService.method.resizeThinPool}
      request={
        newBytes === undefined
          ? undefined
          : { name: pool.title, volumeGroup: groupOf(pool), sizeBytes: newBytes }
      }
      fields={["size_bytes"]}
      fieldOfReason={{ NO_SPACE: "size_bytes", SHRINK_NOT_ALLOWED: "size_bytes" }}
    >
      {({ errorOf }) => (
        <TextField
          label="New size"
          value={text}
          hint={`Now ${sizeText(sizeBytes)}. A pool can only grow.${roomText(pool)}`}
          error={error ?? errorOf("size_bytes")}
          required
        />
      )}
    </ChangeForm>
  );
}
