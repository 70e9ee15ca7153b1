import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { propose } from "../../action/action.ts";
import type { ClassVolume } from "./volume-list.ts";

/** Removes a volume after the user has confirmed the loss of its data. */
export function RemoveVolume(props: { readonly of: ClassVolume; readonly onDone?: () => void }) {
  const { of, onDone = () => {} } = props;
  const { name } = of.volume;
  return (
    <button
      type="button"
      class="danger"
      aria-label={`Remove ${name}`}
      onClick={() =>
        propose({
          title: `Remove the volume ${name}`,
          label: "Remove",
          method: LVService.method.removeLV,
          request: { name, deviceClass: of.deviceClass },
          isDangerous: true,
          onDone,
        })
      }
    >
      Remove
    </button>
  );
}
