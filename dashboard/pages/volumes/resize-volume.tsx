import { useSignal } from "@preact/signals";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { figureOf } from "../../live/inventory.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { useSizeGib } from "./size-input.ts";
import { deviceClassOf } from "./volume-facts.ts";

/** Grows a volume. */
export function ResizeVolume({ volume }: { readonly volume: Resource }) {
  const sizeBytes = figureOf(volume, "size") ?? 0;
  const size = useSizeGib(sizeText(sizeBytes));
  const fileSystem = useSignal<"keep" | "grow">("keep");
  const growsFileSystem = fileSystem.value === "grow";
  const isNew = size.gib !== undefined && Number(size.gib) * 2 ** 30 !== sizeBytes;
  return (
    <ChangeForm
      title={`Resize the volume ${volume.title}`}
      label={isNew ? `Resize to ${sizeText(size.gib << 30n)}` : "Resize"}
      method={VolumeService.method.resizeVolume}
      request={
        isNew
          ? {
              name: volume.title,
              deviceClass: deviceClassOf(volume),
              sizeBytes: size.gib << 30n,
              resizeFileSystem: growsFileSystem,
            }
          : undefined
      }
      fields={["size_bytes"]}
      fieldOfReason={{ NO_SPACE: "size_bytes", SHRINK_NOT_ALLOWED: "size_bytes" }}
    >
      {({ errorOf }) => (
        <>
          <TextField
            label="New size"
            value={size.text}
            hint={`Now ${sizeText(sizeBytes)}. A volume can only grow.`}
            error={size.error ?? errorOf("size_bytes")}
            required
          />
          <SelectField
            label="File system"
            value={fileSystem}
            options={[
              { value: "keep", text: "keep its size" },
              { value: "grow", text: "grow it too (ext2, ext3, ext4, and mounted xfs)" },
            ]}
          />
        </>
      )}
    </ChangeForm>
  );
}
