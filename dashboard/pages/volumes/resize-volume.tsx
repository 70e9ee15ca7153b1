import { useSignal } from "@preact/signals";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { figureOf } from "../../live/inventory.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { useNewSize } from "./size-input.ts";
import { deviceClassOf, roomText } from "./volume-facts.ts";

/** Grows a volume. */
export function ResizeVolume({ volume }: { readonly volume: Resource }) {
  const sizeBytes = figureOf(volume, "size") ?? 0;
  const { text, error, newBytes } = useNewSize(sizeBytes);
  const fileSystem = useSignal<"keep" | "grow">("keep");
  const growsFileSystem = fileSystem.value === "grow";
  return (
    <ChangeForm
      title={`Resize the volume ${volume.title}`}
      label={newBytes === undefined ? "Resize" : `Resize to ${sizeText(newBytes)}`}
      method={VolumeService.method.resizeVolume}
      request={
        newBytes === undefined
          ? undefined
          : {
              name: volume.title,
              deviceClass: deviceClassOf(volume),
              sizeBytes: newBytes,
              resizeFileSystem: growsFileSystem,
            }
      }
      fields={["size_bytes"]}
      fieldOfReason={{ NO_SPACE: "size_bytes", SHRINK_NOT_ALLOWED: "size_bytes" }}
    >
      {({ errorOf }) => (
        <>
          <TextField
            label="New size"
            value={text}
            hint={`Now ${sizeText(sizeBytes)}. A volume can only grow.${roomText(volume)}`}
            error={error ?? errorOf("size_bytes")}
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
