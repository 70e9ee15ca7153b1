import type { ComponentChildren } from "preact";
import type { TableProps } from "./table-props.ts";

/**
 * The first cell of a row: a link to the row's page, or a button that opens it. The library's link would listen to the address in
 * each row, which takes a good part of the time to draw one.
 */
export function RowTitle<Row>(
  props: Pick<TableProps<Row>, "pathOf" | "onOpen"> & {
    readonly row: Row;
    readonly children: ComponentChildren;
  },
) {
  const { row, pathOf, onOpen, children } = props;
  if (pathOf !== undefined) {
    return (
      <a class="title" href={`#${pathOf(row)}`}>
        {children}
      </a>
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
