import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, resourcesOf, usedPercentOf } from "../../live/inventory.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { RowSparkline } from "../../parts/figure/row-sparkline.tsx";
import { healthStatus } from "../../parts/status.tsx";
import type { Column, Filter } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { hostOf, osdClassOf, osdKind } from "./storage-kinds.tsx";

const columns: readonly Column<Resource>[] = [
  { id: "name", title: "OSD", cell: ({ title }) => title, sortBy: ({ title }) => title },
  { id: "host", title: "Host", width: "medium", cell: hostOf, sortBy: hostOf, onCard: "place" },
  {
    id: "state",
    title: "State",
    width: "short",
    cell: ({ state }) => state,
    sortBy: ({ state }) => state,
    onCard: "place",
  },
  {
    id: "class",
    title: "Class",
    width: "short",
    rank: 2,
    cell: osdClassOf,
    sortBy: osdClassOf,
    onCard: "place",
  },
  {
    id: "size",
    title: "Size",
    width: "figure",
    isNumber: true,
    cell: (osd) => sizeOf(osd, "size"),
    sortBy: (osd) => figureOf(osd, "size"),
    onCard: "figure",
  },
  {
    id: "used",
    title: "Used",
    width: "usage",
    cell: (osd) => <Meter percent={usedPercentOf(osd)} label={`${osd.title}, in use`} />,
    sortBy: usedPercentOf,
    onCard: "figure",
  },
  {
    id: "day",
    title: "24 h",
    width: "chart",
    rank: 2,
    cell: (osd) => <RowSparkline resource={osd.name} figure="used" label={`Used space of ${osd.title}`} />,
  },
  {
    id: "pgs",
    title: "PGs",
    width: "figure",
    isNumber: true,
    rank: 2,
    cell: (osd) => figureOf(osd, "pgs") ?? "—",
    sortBy: (osd) => figureOf(osd, "pgs"),
  },
  {
    id: "weight",
    title: "Reweight",
    width: "figure",
    isNumber: true,
    rank: 3,
    cell: weightText,
    sortBy: (osd) => figureOf(osd, "reweight"),
  },
];

const filters: readonly Filter<Resource>[] = [
  { id: "host", title: "host", valuesOf: (osd) => [hostOf(osd)] },
  { id: "class", title: "class", valuesOf: (osd) => [osdClassOf(osd)] },
  { id: "state", title: "state", valuesOf: ({ state }) => [state] },
];

/** The OSDs of the cluster, usually one for each disk. @param host only those of this host */
export function OsdTable({ host }: { readonly host?: string }) {
  const osds = resourcesOf("osd");
  return (
    <DataTable
      {...(host === undefined ? {} : { name: "osds" })}
      caption="OSDs"
      columns={host === undefined ? columns : columns.filter(({ id }) => id !== "host")}
      rows={host === undefined ? osds : osds.filter((osd) => hostOf(osd) === host)}
      keyOf={({ name }) => name}
      titleOf={({ title }) => title}
      pathOf={osdKind.pathOf}
      statusOf={({ health, state }) => ({ kind: healthStatus(health), text: state })}
      textOf={(osd) => `${hostOf(osd)} ${osdClassOf(osd)} ${osd.state}`}
      filters={host === undefined ? filters : []}
      empty={host === undefined ? "No OSDs: the cluster cannot store data." : "No OSD runs on this host."}
    />
  );
}

/** Formats a figure in bytes. */
export function sizeOf(resource: Resource, figure: string): string {
  const bytes = figureOf(resource, figure);
  return bytes === undefined ? "—" : sizeText(bytes);
}

/** Formats the share of its normal data that is placed on an OSD. */
export function weightText(osd: Resource): string {
  const weight = figureOf(osd, "reweight");
  return weight === undefined ? "—" : String(Number(weight.toFixed(2)));
}
