import type { ComponentChildren } from "preact";
import type { MenuItem } from "../menu.tsx";
import type { StatusKind } from "../status.tsx";
import type { Column, Filter } from "./column.ts";

/** A change of one or several rows, in the row's menu and in the bar below the selection. */
export interface RowAction<Row> {
  /** A verb; with an ellipsis if it opens a plan or a form. */
  readonly text: string;
  readonly icon: MenuItem["icon"];
  /** The key that does the same for the row in focus, in lower case. */
  readonly key?: string;
  readonly isDestructive?: boolean;
  /** Whether it can be done to the row; default: always. */
  readonly appliesTo?: (row: Row) => boolean;
  readonly run: (row: Row) => void;
  /** Does it to several rows, by one plan. Not in the bar without it. */
  readonly runAll?: (rows: readonly Row[]) => void;
}

/** What a table of the dashboard is made of. */
export interface TableProps<Row> {
  /** Prefix of its parameters in the address; needed if a page has several tables. */
  readonly name?: string;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The row's name, the first column. */
  readonly titleOf: (row: Row) => string;
  /** Absolute path of the row's page, such as "/volumes/vg0/data". */
  readonly pathOf?: (row: Row) => string;
  /** Opens a row that has no page of its own, such as in the side panel. */
  readonly onOpen?: (row: Row) => void;
  readonly statusOf?: (row: Row) => { readonly kind: StatusKind; readonly text: string };
  /** Text for the search in addition to the title. */
  readonly textOf?: (row: Row) => string;
  readonly filters?: readonly Filter<Row>[];
  readonly actions?: readonly RowAction<Row>[];
  /** Shown without rows: a sentence, and what to do. */
  readonly empty: ComponentChildren;
  /** Buttons at the end of the line with the search. */
  readonly tools?: ComponentChildren;
  /** Whether to show search and filters even for a few rows; default: from eight rows on. */
  readonly hasTools?: boolean;
}
