import { host } from "../../host/host.ts";
import { hosts } from "../../live/hosts.ts";
import type { Column } from "../../parts/table/column.ts";

/**
 * Adds a column with the host of the fleet after the first one, on the page of a hub.
 * @param hostOf returns the name of a row's host; empty for the hub itself
 */
export function withHostColumn<Row>(
  columns: readonly Column<Row>[],
  hostOf: (row: Row) => string,
): readonly Column<Row>[] {
  if (host !== undefined || hosts.value.hosts === undefined) {
    return columns;
  }
  const shownHost = (row: Row) => hostOf(row) || "hub";
  const column: Column<Row> = {
    id: "host",
    title: "Host",
    width: "short",
    cell: shownHost,
    sortBy: shownHost,
    onCard: "place",
  };
  return [...columns.slice(0, 1), column, ...columns.slice(1)];
}
