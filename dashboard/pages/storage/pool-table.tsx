import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { figureOf, resourcesOf } from "../../live/inventory.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { RowSparkline } from "../../parts/figure/row-sparkline.tsx";
import { healthStatus } from "../../parts/status.tsx";
import type { Column } from "../../parts/table/column.ts";
import { DataTable } from "../../parts/table/data-table.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { sizeOf } from "./osd-table.tsx";
import { applicationsOf, cephPoolKind } from "./storage-kinds.tsx";

const columns: readonly Column<Resource>[] = [
  { id: "name", title: "Pool", cell: ({ title }) => title, sortBy: ({ title }) => title },
  {
    id: "application",
    title: "Applications",
    width: "short",
    cell: applicationsText,
    sortBy: applicationsText,
    onCard: "place",
  },
  {
    id: "redundancy",
    title: "Redundancy",
    width: "medium",
    cell: redundancyText,
    sortBy: redundancyText,
    onCard: "place",
  },
  sizeColumn("stored", "Stored", 1),
  sizeColumn("used", "With copies", 3),
  sizeColumn("free", "Available", 2),
  {
    id: "share",
    title: "Used",
    width: "usage",
    cell: (pool) => <Meter percent={figureOf(pool, "data_used")} label={`${pool.title}, in use`} />,
    sortBy: (pool) => figureOf(pool, "data_used"),
    onCard: "figure",
  },
  {
    id: "day",
    title: "24 h",
    width: "chart",
    rank: 2,
    cell: (pool) => <RowSparkline resource={pool.name} figure="used" label={`Used space of ${pool.title}`} />,
  },
  {
    id: "objects",
    title: "Objects",
    width: "figure",
    isNumber: true,
    rank: 3,
    cell: (pool) => countText(figureOf(pool, "objects")),
    sortBy: (pool) => figureOf(pool, "objects"),
  },
  {
    id: "pgs",
    title: "PGs",
    width: "figure",
    isNumber: true,
    rank: 3,
    cell: (pool) => countText(figureOf(pool, "pgs")),
    sortBy: (pool) => figureOf(pool, "pgs"),
  },
];

function sizeColumn(figure: string, title: string, rank: 1 | 2 | 3): Column<Resource> {
  return {
    id: figure,
    title,
    width: "figure",
    isNumber: true,
    rank,
    cell: (pool) => sizeOf(pool, figure),
    sortBy: (pool) => figureOf(pool, figure),
    ...(rank === 1 ? { onCard: "figure" as const } : {}),
  };
}

/** The pools of the cluster, with their redundancy. */
export function PoolTable() {
  return (
    <DataTable
      name="pools"
      caption="Pools"
      columns={columns}
      rows={resourcesOf("cephPool")}
      keyOf={({ name }) => name}
      titleOf={({ title }) => title}
      pathOf={cephPoolKind.pathOf}
      statusOf={({ health, state }) => ({ kind: healthStatus(health), text: state })}
      textOf={applicationsText}
      filters={[{ id: "application", title: "application", valuesOf: applicationsOf }]}
      empty="No pools yet."
    />
  );
}

/** Names the applications of a pool. */
export function applicationsText(pool: Resource): string {
  return applicationsOf(pool).join(", ") || "none";
}

/** Says how a pool protects data: "3 copies, one per host". */
export function redundancyText(pool: Resource): string {
  const copies = figureOf(pool, "copies");
  const { failure_domain: domain } = pool.properties;
  const what = pool.state === "erasure" ? "chunks" : "copies";
  return copies === undefined ? "—" : `${copies} ${what}${domain === undefined ? "" : `, one per ${domain}`}`;
}

/** Formats a count. */
export function countText(count: number | undefined): string {
  return count === undefined ? "—" : count.toLocaleString("en");
}

/** When the placement group of a pool was deep scrubbed whose last deep scrub is the oldest. */
export function DeepScrub({ pool }: { readonly pool: Resource }) {
  const atSeconds = figureOf(pool, "deep_scrubbed");
  return atSeconds === undefined ? "—" : <TimeText atMs={atSeconds * 1000} />;
}
