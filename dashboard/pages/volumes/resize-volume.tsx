import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { figureOf } from "../../live/inventory.ts";
import { TextField } from "../../parts/form/text-field.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { useSizeGib } from "./size-input.ts";
import { deviceClassOf } from "./volume-facts.ts";

/** Grows a volume. */
export function ResizeVolume({ volume }: { readonly volume: Resource }) {
  const sizeBytes = figureOf(volume, "size") ?? 0;
  const size = useSizeGib(sizeText(sizeBytes));
  const isNew = size.gib !== undefined && Number(size.gib) * 2 ** 30 !== sizeBytes;
  return (
    <ChangeForm
      title={`Resize the volume ${volume.title}`}
      label={isNew ? `Resize to ${sizeText(size.gib << 30n)}` : "Resize"}
      method={LVService.method.resizeLV}
      request={
        isNew ? { name: volume.title, deviceClass: deviceClassOf(volume), sizeGb: size.gib } : undefined
      }
      fields={["size_gb"]}
      fieldOfReason={{ NO_SPACE: "size_gb", SHRINK_NOT_ALLOWED: "size_gb" }}
    >
      {({ errorOf }) => (
        <TextField
          label="New size"
          value={size.text}
          hint={`Now ${sizeText(sizeBytes)}. A volume can only grow. Its file system is not resized.`}
          error={size.error ?? errorOf("size_gb")}
          required
        />
      )}
    </ChangeForm>
  );
}
