import { useSignal } from "@preact/signals";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { deviceClassOf } from "./volume-facts.ts";
import { parseTags, tagsOf } from "./volume-tags.ts";

/** Sets the tags of a volume. */
export function SetTags({ volume }: { readonly volume: Resource }) {
  const before = tagsOf(volume).join(" ");
  const text = useSignal(before);
  const isNew = parseTags(text.value).join(" ") !== before;
  return (
    <ChangeForm
      title={`Set the tags of ${volume.title}`}
      label="Set tags"
      method={VolumeService.method.setVolumeTags}
      request={
        isNew
          ? { name: volume.title, deviceClass: deviceClassOf(volume), tags: parseTags(text.value) }
          : undefined
      }
      fields={["tags"]}
    >
      {({ errorOf }) => (
        <TextField
          label="Tags"
          value={text}
          hint="Separated by spaces, such as team=a backup. They replace all tags that the volume has."
          error={errorOf("tags")}
        />
      )}
    </ChangeForm>
  );
}
