import { useSignal } from "@preact/signals";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import {
  type ListHypervisorsResponseHypervisor as Hypervisor,
  HypervisorCapabilities,
} from "../../../gen/operations/v1/operations_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { client, hasRole } from "../../session.ts";
import { HypervisorButton, SelectionBar } from "./hypervisor-actions.tsx";
import { hypervisorStateText } from "./hypervisor-state.ts";
import "./hypervisors.css";

/** All hypervisors, whether they exist yet or not, live. Operators can change one or several of them. */
export function Inventory() {
  const { reading } = useRead((options) => client.hypervisors.listHypervisors({}, options), {
    // The possible actions for a VM change when an operation on it ends.
    topics: ["hypervisors", "operations"],
  });
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const mayChange = hasRole(Role.OPERATOR);

  function select(id: string, isSelected: boolean): void {
    const others = [...selected.value].filter((each) => each !== id);
    selected.value = new Set(isSelected ? [...others, id] : others);
  }

  const idOf = ({ id }: Hypervisor) =>
    mayChange ? (
      <label class="select">
        <input
          type="checkbox"
          checked={selected.value.has(id)}
          onChange={({ currentTarget }) => select(id, currentTarget.checked)}
        />
        <code>{id}</code>
      </label>
    ) : (
      <code>{id}</code>
    );
  const columns: readonly Column<Hypervisor>[] = [
    { title: "Id", cell: idOf },
    { title: "State", cell: State },
    { title: "CPU threads", cell: ({ cpu }) => (cpu === 0 ? "not known" : cpu), isNumber: true },
    { title: "RAM", cell: ramText, isNumber: true },
    { title: "Capabilities", cell: capabilitiesText },
    ...(mayChange ? [{ title: "Change", cell: (one: Hypervisor) => <HypervisorButton of={one} /> }] : []),
  ];
  return (
    <section class="card stack">
      <ReadState of={reading}>
        {({ hypervisors }) => (
          <>
            <DataTable
              caption="Inventory"
              columns={columns}
              rows={hypervisors}
              keyOf={({ id }) => id}
              empty="No hypervisors. Configure templates in hypervisors.templates, or names of existing VMs in hypervisors.match."
            />
            {mayChange && (
              <SelectionBar
                of={hypervisors.filter(({ id }) => selected.value.has(id))}
                onDone={() => {
                  selected.value = new Set();
                }}
              />
            )}
          </>
        )}
      </ReadState>
    </section>
  );
}

function State({ state }: Hypervisor) {
  const { tone, text } = hypervisorStateText(state);
  return <Badge tone={tone}>{text}</Badge>;
}

/** The contract says MB, but the gateway returns MiB, as libvirt does. */
function ramText({ ram }: Hypervisor): string {
  return ram === 0 ? "not known" : sizeText(ram * 1024 ** 2);
}

function capabilitiesText({ capabilities, gpus }: Hypervisor): string {
  const models = gpus.map(({ brand, model }) => `${brand} ${model}`.trim()).join(", ");
  const texts = [
    ...(capabilities.includes(HypervisorCapabilities.STORAGE) ? ["shared storage"] : []),
    ...(models !== ""
      ? [`GPU: ${models}`]
      : capabilities.includes(HypervisorCapabilities.GPU)
        ? ["GPU"]
        : []),
  ];
  return texts.length === 0 ? "VMs" : texts.join("; ");
}
