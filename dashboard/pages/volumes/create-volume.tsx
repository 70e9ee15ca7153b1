import { useSignal } from "@preact/signals";
import { LVService, type WatchResponse } from "../../../gen/proto/lvmd_pb.ts";
import { useProposal } from "../../action/use-proposal.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SelectField } from "../../parts/form/select-field.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { useSizeGib } from "./size-input.ts";
import { parseTags } from "./volume-text.tsx";

/** Creates an empty volume. */
export function CreateVolume({ space }: { readonly space: WatchResponse }) {
  const name = useSignal("");
  const tags = useSignal("");
  const deviceClass = useSignal(likelyDefault(space));
  const size = useSizeGib("");
  const form = useProposal(["name", "size_gb", "tags"], { VOLUME_EXISTS: "name", NO_SPACE: "size_gb" });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const sizeGb = size.read();
    if (sizeGb === undefined) {
      return;
    }
    void form.submit({
      title: `Create the volume ${name.value}`,
      label: "Create",
      method: LVService.method.createLV,
      request: {
        name: name.value,
        sizeGb,
        deviceClass: deviceClass.value,
        tags: parseTags(tags.value),
      },
      onDone: () => {
        name.value = "";
        tags.value = "";
      },
    });
  }

  return (
    <form class="card stack" aria-labelledby="create-volume" onSubmit={submit}>
      <h2 id="create-volume">Create a volume</h2>
      <div class="fields">
        <TextField label="Name" value={name} error={form.errorOf("name")} required />
        <TextField
          label="Size"
          value={size.text}
          hint="Whole GiB, such as 10 GiB or 1.5 TiB"
          error={size.error ?? form.errorOf("size_gb")}
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
        <TextField
          label="Tags"
          value={tags}
          hint="Optional, separated by spaces"
          error={form.errorOf("tags")}
        />
      </div>
      {form.error !== undefined && <ErrorNote error={form.error} />}
      <button type="submit" class="main" disabled={form.isChecking}>
        Create …
      </button>
    </form>
  );
}

/** The response identifies the default class only by its free space. */
function likelyDefault({ items, freeBytes }: WatchResponse): string {
  return (items.find((item) => item.freeBytes === freeBytes) ?? items[0])?.deviceClass ?? "";
}
