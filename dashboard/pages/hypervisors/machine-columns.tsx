import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";
import { figureOf } from "../../live/inventory.ts";
import type { Column, Filter } from "../../parts/table/column.ts";
import { withSizes } from "../../parts/text/with-sizes.ts";
import { statusOfResource } from "../../resources/kinds.ts";
import { bytesText, capabilitiesOf, countText, gpuCountText, machineStateText } from "./machine-text.tsx";

/** The machines' last operations that failed, by the machine's name. */
export type MachineFailures = ReadonlyMap<string, Operation>;

/** Columns of the table of machines. */
export const machineColumns = (failures: MachineFailures): readonly Column<Resource>[] => [
  { id: "name", title: "Name", cell: ({ title }) => title, sortBy: ({ title }) => title },
  {
    id: "state",
    title: "State",
    width: "wide",
    cell: (machine) => {
      const text = [stateTextOf(machine, failures), machine.reason || whyFailed(machine, failures)]
        .filter((part) => part !== "")
        .join(": ");
      return <span title={text}>{text}</span>;
    },
    sortBy: machineStateText,
    onCard: "place",
  },
  {
    id: "vcpus",
    title: "vCPUs",
    width: "figure",
    isNumber: true,
    cell: (machine) => countText(figureOf(machine, "vcpus")),
    sortBy: (machine) => figureOf(machine, "vcpus"),
  },
  {
    id: "memory",
    title: "Memory",
    width: "figure",
    isNumber: true,
    cell: (machine) => bytesText(figureOf(machine, "memory")),
    sortBy: (machine) => figureOf(machine, "memory"),
    onCard: "figure",
  },
  {
    id: "gpus",
    title: "GPUs",
    width: "figure",
    isNumber: true,
    rank: 2,
    cell: gpuCountText,
    sortBy: (machine) => figureOf(machine, "gpus"),
  },
  {
    id: "capabilities",
    title: "Capabilities",
    width: "medium",
    rank: 3,
    cell: (machine) => <Capabilities of={machine} />,
  },
];

/** The capabilities of a machine, plain and grey. */
export function Capabilities({ of }: { readonly of: Resource }) {
  return (
    <>
      {capabilitiesOf(of).map((capability) => (
        <span key={capability} class="tag">
          {capability}
        </span>
      ))}
    </>
  );
}

/** What the table of machines is made of, besides its columns. */
export const machineRow = (failures: MachineFailures) => ({
  keyOf: ({ name }: Resource) => name,
  titleOf: ({ title }: Resource) => title,
  statusOf: (machine: Resource) => ({
    kind: isFailed(machine, failures) ? ("failed" as const) : statusOfResource(machine),
    text: stateTextOf(machine, failures),
  }),
  textOf: (machine: Resource) =>
    [stateTextOf(machine, failures), machine.reason, ...capabilitiesOf(machine)].join(" "),
});

/** A machine that runs is fine, whatever failed before. */
function isFailed({ name, state }: Resource, failures: MachineFailures): boolean {
  return state !== "running" && failures.has(name);
}

function stateTextOf(machine: Resource, failures: MachineFailures): string {
  const text = machineStateText(machine);
  return isFailed(machine, failures) ? `failed, ${text}` : text;
}

function whyFailed(machine: Resource, failures: MachineFailures): string {
  return isFailed(machine, failures) ? withSizes(failures.get(machine.name)?.error?.message ?? "") : "";
}

export const machineFilters: readonly Filter<Resource>[] = [
  { id: "state", title: "state", valuesOf: (machine) => [machineStateText(machine)] },
  { id: "capability", title: "capability", valuesOf: capabilitiesOf },
];
