import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf } from "../../live/inventory.ts";
import type { Column, Filter } from "../../parts/table/column.ts";
import { statusOfResource } from "../../resources/kinds.ts";
import { bytesText, capabilitiesOf, countText, gpuCountText, machineStateText } from "./machine-text.tsx";

/** Columns of the table of machines. */
export const machineColumns: readonly Column<Resource>[] = [
  { id: "name", title: "Name", cell: ({ title }) => title, sortBy: ({ title }) => title },
  {
    id: "state",
    title: "State",
    width: "wide",
    cell: (machine) => {
      const text = [machineStateText(machine), machine.reason].filter((part) => part !== "").join(": ");
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
export const machineRow = {
  keyOf: ({ name }: Resource) => name,
  titleOf: ({ title }: Resource) => title,
  statusOf: (machine: Resource) => ({ kind: statusOfResource(machine), text: machineStateText(machine) }),
  textOf: (machine: Resource) =>
    [machineStateText(machine), machine.reason, ...capabilitiesOf(machine)].join(" "),
};

export const machineFilters: readonly Filter<Resource>[] = [
  { id: "state", title: "state", valuesOf: (machine) => [machineStateText(machine)] },
  { id: "capability", title: "capability", valuesOf: capabilitiesOf },
];
