import type { ComponentChildren } from "preact";

/** Width of a column; `name` takes what the others leave. */
export type ColumnWidth = "name" | "figure" | "usage" | "chart" | "short" | "medium" | "time" | "wide";

/** A column of a table. */
export interface Column<Row> {
  /** Unique in the table; in the address when the table is sorted by it. */
  readonly id: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The value to sort by; rows without one come last. The column cannot be sorted without it. */
  readonly sortBy?: (row: Row) => string | number | undefined;
  /** Whether to align the column right, as numbers are. */
  readonly isNumber?: boolean;
  readonly width?: ColumnWidth;
  /** How soon a narrow table leaves it out: 3 first, 1 never. Default: 1. */
  readonly rank?: 1 | 2 | 3;
  /** Where the value is on a phone's card: in its second line, or among the figures. Not shown without it. */
  readonly onCard?: "place" | "figure";
}

/** A property by which rows can be filtered. */
export interface Filter<Row> {
  /** In the address. */
  readonly id: string;
  /** As in "state is running". */
  readonly title: string;
  /** The row's values; a row matches if it has one of the chosen ones. */
  readonly valuesOf: (row: Row) => readonly string[];
}
