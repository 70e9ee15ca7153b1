import {
  type ListHypervisorsResponseHypervisor as Hypervisor,
  HypervisorState,
  OperationsService,
} from "../../../gen/operations/v1/operations_pb.ts";
import { propose } from "../../action/action.ts";

const { createHypervisor, createHypervisors, destroyHypervisor, destroyHypervisors } =
  OperationsService.method;

/** The action that is possible for one hypervisor. */
export function HypervisorButton({ of: { id, state } }: { readonly of: Hypervisor }) {
  const request = { id };
  if (state === HypervisorState.AVAILABLE_TO_CREATE) {
    return (
      <button
        type="button"
        class="small"
        aria-label={`Create ${id}`}
        onClick={() =>
          propose({
            title: `Create the hypervisor ${id}`,
            label: "Create",
            method: createHypervisor,
            request,
          })
        }
      >
        Create
      </button>
    );
  }
  if (state === HypervisorState.AVAILABLE_TO_DESTROY) {
    return (
      <button
        type="button"
        class="small danger"
        aria-label={`Destroy ${id}`}
        onClick={() =>
          propose({
            title: `Destroy the hypervisor ${id}`,
            label: "Destroy",
            method: destroyHypervisor,
            request,
            isDangerous: true,
          })
        }
      >
        Destroy
      </button>
    );
  }
  return <span class="quiet">No actions until its state is known</span>;
}

/** Changes all selected hypervisors at once. Each change applies only to those in a suitable state. */
export function SelectionBar(props: { readonly of: readonly Hypervisor[]; readonly onDone: () => void }) {
  const idsIn = (state: HypervisorState) => props.of.filter((one) => one.state === state).map(({ id }) => id);
  const off = idsIn(HypervisorState.AVAILABLE_TO_CREATE);
  const running = idsIn(HypervisorState.AVAILABLE_TO_DESTROY);
  const { onDone } = props;
  return (
    <div class="row">
      <button
        type="button"
        disabled={off.length === 0}
        onClick={() =>
          propose({
            title: `Create ${hypervisorsText(off.length)}`,
            label: "Create",
            method: createHypervisors,
            request: { ids: off },
            onDone,
          })
        }
      >
        Create selected{off.length > 0 && ` (${off.length})`}
      </button>
      <button
        type="button"
        class="danger"
        disabled={running.length === 0}
        onClick={() =>
          propose({
            title: `Destroy ${hypervisorsText(running.length)}`,
            label: "Destroy",
            method: destroyHypervisors,
            request: { ids: running },
            isDangerous: true,
            onDone,
          })
        }
      >
        Destroy selected{running.length > 0 && ` (${running.length})`}
      </button>
    </div>
  );
}

function hypervisorsText(count: number): string {
  return count === 1 ? "1 hypervisor" : `${count} hypervisors`;
}
