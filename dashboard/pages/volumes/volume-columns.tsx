import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, usedPercentOf } from "../../live/inventory.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { healthStatus } from "../../parts/status.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { sizeText } from "../../parts/text/size-text.ts";
import { Tags } from "../../parts/text/tags.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { deviceClassOf, groupOf } from "./volume-facts.ts";
import { tagsOf } from "./volume-tags.ts";

/** @param lastBackupMs when the last backup of a volume was made, by the volume's resource; milliseconds since 1970 */
export function volumeColumns(lastBackupMs: ReadonlyMap<string, number>): readonly Column<Resource>[] {
  return [
    { id: "name", title: "Name", cell: ({ title }) => title, sortBy: ({ title }) => title },
    { id: "group", title: "Group", width: "medium", cell: groupOf, sortBy: groupOf, onCard: "place" },
    {
      id: "class",
      title: "Device class",
      width: "medium",
      rank: 3,
      cell: deviceClassOf,
      sortBy: deviceClassOf,
      onCard: "place",
    },
    {
      id: "size",
      title: "Size",
      width: "figure",
      isNumber: true,
      cell: (volume) => sizeText(figureOf(volume, "size") ?? 0),
      sortBy: (volume) => figureOf(volume, "size"),
      onCard: "figure",
    },
    {
      id: "used",
      title: "Used",
      width: "usage",
      rank: 2,
      cell: (volume) => <Meter percent={usedPercentOf(volume)} label={`${volume.title}, in use`} />,
      sortBy: usedPercentOf,
    },
    {
      id: "backup",
      title: "Last backup",
      width: "time",
      isNumber: true,
      cell: ({ name }) => {
        const atMs = lastBackupMs.get(name);
        return atMs === undefined ? <span class="quiet">none</span> : <TimeText atMs={atMs} />;
      },
      sortBy: ({ name }) => lastBackupMs.get(name),
      onCard: "figure",
    },
    { id: "tags", title: "Tags", width: "wide", rank: 2, cell: (volume) => <Tags of={tagsOf(volume)} /> },
  ];
}

/** What every table of volumes has in common. */
export const volumeRow = {
  keyOf: ({ name }: Resource) => name,
  titleOf: ({ title }: Resource) => title,
  statusOf: ({ health, state }: Resource) => ({ kind: healthStatus(health), text: state }),
  textOf: (volume: Resource) => `${groupOf(volume)} ${deviceClassOf(volume)} ${tagsOf(volume).join(" ")}`,
};

export const volumeFilters: readonly Filter<Resource>[] = [
  { id: "group", title: "group", valuesOf: (volume) => [groupOf(volume)] },
  { id: "class", title: "device class", valuesOf: (volume) => [deviceClassOf(volume)] },
  { id: "state", title: "state", valuesOf: ({ state }) => [state] },
  { id: "tag", title: "tag", valuesOf: tagsOf },
];
