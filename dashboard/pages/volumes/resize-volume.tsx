import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { useProposal } from "../../action/use-proposal.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/form/text-field.tsx";
import { useSizeGib } from "./size-input.ts";
import type { ClassVolume } from "./volume-list.ts";

/** Grows a volume. */
export function ResizeVolume({ of: { deviceClass, volume } }: { readonly of: ClassVolume }) {
  const size = useSizeGib(`${volume.sizeGb} GiB`);
  const form = useProposal(["size_gb"], { NO_SPACE: "size_gb", SHRINK_NOT_ALLOWED: "size_gb" });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const sizeGb = size.read();
    if (sizeGb !== undefined) {
      void form.submit({
        title: `Resize the volume ${volume.name}`,
        label: "Resize",
        method: LVService.method.resizeLV,
        request: { name: volume.name, deviceClass, sizeGb },
      });
    }
  }

  return (
    <form class="card stack" aria-labelledby="resize-volume" onSubmit={submit}>
      <h2 id="resize-volume">Resize</h2>
      <TextField
        label="New size"
        value={size.text}
        hint="A volume can only grow. Its file system is not resized."
        error={size.error ?? form.errorOf("size_gb")}
        required
      />
      {form.error !== undefined && <ErrorNote error={form.error} />}
      <button type="submit" disabled={form.isChecking}>
        Resize …
      </button>
    </form>
  );
}
