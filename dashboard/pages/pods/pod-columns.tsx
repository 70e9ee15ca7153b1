import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf } from "../../live/inventory.ts";
import type { Column, Filter } from "../../parts/table/column.ts";
import { labelTexts } from "../../parts/text/label-texts.ts";
import { statusOfResource } from "../../resources/kinds.ts";
import { FigureTime, runningContainersText } from "./pod-text.tsx";

/** Columns of the table of pods. */
export const podColumns: readonly Column<Resource>[] = [
  { id: "name", title: "Name", cell: ({ title }) => title, sortBy: ({ title }) => title },
  {
    id: "state",
    title: "State",
    width: "wide",
    cell: (pod) => <span title={stateText(pod)}>{stateText(pod)}</span>,
    sortBy: ({ state }) => state,
    onCard: "place",
  },
  {
    id: "containers",
    title: "Containers",
    width: "short",
    isNumber: true,
    cell: runningContainersText,
    sortBy: (pod) => figureOf(pod, "running_containers"),
    onCard: "figure",
  },
  {
    id: "image",
    title: "Image",
    width: "wide",
    rank: 2,
    cell: ({ properties }) => properties.image ?? "—",
    sortBy: ({ properties }) => properties.image,
  },
  {
    id: "started",
    title: "Started",
    width: "time",
    isNumber: true,
    cell: (pod) => <FigureTime of={pod} figure="started" />,
    sortBy: (pod) => figureOf(pod, "started"),
    onCard: "figure",
  },
  {
    id: "created",
    title: "Created",
    width: "time",
    isNumber: true,
    rank: 3,
    cell: (pod) => <FigureTime of={pod} figure="created" />,
    sortBy: (pod) => figureOf(pod, "created"),
  },
];

/** Why a pod does not work, which says its state as well; otherwise its state. */
function stateText({ state, reason }: Resource): string {
  return reason === "" ? state : reason;
}

/** What the table of pods is made of, besides its columns. */
export const podRow = {
  keyOf: ({ name }: Resource) => name,
  titleOf: ({ title }: Resource) => title,
  statusOf: (pod: Resource) => ({ kind: statusOfResource(pod), text: pod.state }),
  textOf: ({ name, state, reason, properties, labels }: Resource) =>
    [name, state, reason, properties.image, properties.addresses, ...labelTexts(labels)].join(" "),
};

export const podFilters: readonly Filter<Resource>[] = [
  { id: "state", title: "state", valuesOf: ({ state }) => [state] },
  {
    id: "image",
    title: "image",
    valuesOf: ({ properties: { image } }) => (image === undefined ? [] : [image]),
  },
  { id: "label", title: "label", valuesOf: ({ labels }) => labelTexts(labels) },
];
