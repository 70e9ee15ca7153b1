import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import type { TableProps } from "./table-props.ts";

/** The first cell of a row: a link to the row's page, or a button that opens it. */
export function RowTitle<Row>(
  props: Pick<TableProps<Row>, "pathOf" | "onOpen"> & {
    readonly row: Row;
    readonly children: ComponentChildren;
  },
) {
  const { row, pathOf, onOpen, children } = props;
  if (pathOf !== undefined) {
    return (
      <Link class="title" href={`~${pathOf(row)}`}>
        {children}
      </Link>
    );
  }
  return onOpen === undefined ? (
    <span class="title">{children}</span>
  ) : (
    <button type="button" class="link title" onClick={() => onOpen(row)}>
      {children}
    </button>
  );
}
