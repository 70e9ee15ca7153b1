import { useSignal } from "@preact/signals";
import { LVService, type WatchResponse } from "../../../gen/proto/lvmd_pb.ts";
import { ChangeForm } from "../../action/change-form.tsx";
import { useWatch } from "../../live/use-watch.ts";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { client } from "../../session.ts";
import { useSizeGib } from "./size-input.ts";
import { parseTags } from "./volume-tags.ts";

/** Creates an empty volume. */
export function CreateVolume() {
  const watching = useWatch((options) => client.volumeGroups.watch({}, options));
  return <ReadState of={watching}>{(space) => <Fields space={space} />}</ReadState>;
}

function Fields({ space }: { readonly space: WatchResponse }) {
  const name = useSignal("");
  const tags = useSignal("");
  const deviceClass = useSignal(likelyDefault(space));
  const size = useSizeGib("");
  return (
    <ChangeForm
      title={`Create the volume ${name.value}`}
      label="Create"
      method={LVService.method.createLV}
      request={
        name.value === "" || size.gib === undefined
          ? undefined
          : {
              name: name.value,
              sizeGb: size.gib,
              deviceClass: deviceClass.value,
              tags: parseTags(tags.value),
            }
      }
      fields={["name", "size_gb", "tags"]}
      fieldOfReason={{ VOLUME_EXISTS: "name", NO_SPACE: "size_gb" }}
    >
      {({ errorOf }) => (
        <>
          <TextField label="Name" value={name} error={errorOf("name")} required />
          <TextField
            label="Size"
            value={size.text}
            hint="Whole GiB, such as 10 GiB or 1.5 TiB"
            error={size.error ?? errorOf("size_gb")}
            required
          />
          <SelectField
            label="Device class"
            value={deviceClass}
            options={space.items.map((item) => ({
              value: item.deviceClass,
              text: `${item.deviceClass} (${sizeText(item.freeBytes)} free)`,
            }))}
          />
          <TextField label="Tags" value={tags} hint="Optional, separated by spaces" error={errorOf("tags")} />
        </>
      )}
    </ChangeForm>
  );
}

/** The response identifies the default class only by its free space. */
function likelyDefault({ items, freeBytes }: WatchResponse): string {
  return (items.find((item) => item.freeBytes === freeBytes) ?? items[0])?.deviceClass ?? "";
}
