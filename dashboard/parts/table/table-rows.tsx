import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { memo } from "preact/compat";
import { Icon } from "../icon.tsx";
import { Status } from "../status.tsx";
import type { Column } from "./column.ts";
import { openPath } from "./open-path.ts";
import { RowMenu } from "./row-menu.tsx";
import { RowTitle } from "./row-title.tsx";
import type { TableProps } from "./table-props.ts";
import { toggled } from "./toggled.ts";
import { useVirtualRows } from "./use-virtual-rows.ts";

/** A table's rows with what the user does with them. */
export interface ShownRows<Row> extends TableProps<Row> {
  /** The rows that match, in order. */
  readonly found: readonly Row[];
  readonly selected: Signal<ReadonlySet<string>>;
  /** The row in focus. */
  readonly at: Signal<string | undefined>;
  readonly isSelectable: boolean;
  readonly list: RefObject<HTMLElement>;
  readonly rowPx: number;
}

/** The rows as a table. Only the rows in view are in the document. */
export function TableRows<Row>(
  props: ShownRows<Row> & { readonly sort: string; readonly onSort: (sort: string) => void },
) {
  const { caption, columns, found, keyOf, statusOf, actions = [], isSelectable, selected, list } = props;
  const { start, end, beforePx, afterPx } = useVirtualRows(list, found.length, props.rowPx);
  return (
    <div class="table-frame">
      <table aria-rowcount={found.length + 1}>
        <caption class="sr">{caption}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {isSelectable && (
              <th scope="col" class="w-box">
                <input
                  type="checkbox"
                  aria-label="Select all"
                  checked={selected.value.size > 0 && found.every((row) => selected.value.has(keyOf(row)))}
                  onChange={({ currentTarget }) => {
                    selected.value = new Set(currentTarget.checked ? found.map(keyOf) : []);
                  }}
                />
              </th>
            )}
            {statusOf !== undefined && (
              <th scope="col" class="w-status">
                <span class="sr">Status</span>
              </th>
            )}
            {columns.map((column) => (
              <HeadCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
            {actions.length > 0 && (
              <th scope="col" class="w-menu">
                <span class="sr">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody ref={list as RefObject<HTMLTableSectionElement>}>
          {beforePx > 0 && <Spacer px={beforePx} />}
          {found.slice(start, end).map((row, index) => (
            <KeptRow key={keyOf(row)} {...props} row={row} rowIndex={start + index + 2} />
          ))}
          {afterPx > 0 && <Spacer px={afterPx} />}
        </tbody>
      </table>
    </div>
  );
}

/**
 * Stands for the rows that are not drawn. Its height is an attribute, since the page allows no style attributes. It has one cell:
 * if it spanned all columns, those that a narrow table leaves out would still take their place.
 */
function Spacer({ px }: { readonly px: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row cannot have the focus
    <tr class="spacer" aria-hidden="true">
      <td>
        <svg width="1" height={px} aria-hidden="true" />
      </td>
    </tr>
  );
}

function HeadCell<Row>(props: {
  readonly column: Column<Row>;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}) {
  const {
    column: { id, title, sortBy, isNumber, width = "name" },
    sort,
    onSort,
  } = props;
  const isUp = sort === id;
  const isDown = sort === `-${id}`;
  const classes = `w-${width}${isNumber ? " number" : ""} ${rankClass(props.column)}`;
  if (sortBy === undefined) {
    return (
      <th scope="col" class={classes}>
        {title}
      </th>
    );
  }
  return (
    <th scope="col" class={classes} aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}>
      <button type="button" onClick={() => onSort(nextSort(id, sort, isNumber === true))}>
        {title}
        {(isUp || isDown) && <Icon name={isUp ? "up" : "down"} />}
      </button>
    </th>
  );
}

/** The class by which a narrow table leaves a column out. */
function rankClass({ rank = 1 }: { readonly rank?: 1 | 2 | 3 | undefined }): string {
  return rank === 1 ? "" : `rank-${rank}`;
}

/** Numbers begin with the largest, texts with A; then the reverse, then the given order. */
function nextSort(id: string, sort: string, isNumber: boolean): string {
  const [first, second] = isNumber ? [`-${id}`, id] : [id, `-${id}`];
  return sort === first ? second : sort === second ? "" : first;
}

/** A row that stays in view while the list is scrolled is not drawn again. */
const KeptRow = memo(BodyRow) as typeof BodyRow;

function BodyRow<Row>(
  props: ShownRows<Row> & { readonly row: Row; readonly rowIndex: number; readonly sort: string },
) {
  const { row, rowIndex, columns, keyOf, titleOf, pathOf, onOpen, statusOf, actions = [], sort } = props;
  const { isSelectable, selected, at } = props;
  const key = keyOf(row);
  const title = titleOf(row);
  const path = pathOf?.(row);
  const status = statusOf?.(row);
  const isSelected = selected.value.has(key);
  return (
    <tr
      aria-rowindex={rowIndex}
      aria-selected={isSelectable ? isSelected : undefined}
      class={`${path === undefined && onOpen === undefined ? "" : "opens"} ${at.value === key ? "at" : ""}`}
      onClick={({ target }) => {
        at.value = key;
        if (target instanceof Element && target.closest("a, button, input") !== null) {
          return;
        }
        if (path !== undefined) {
          openPath(path);
        } else {
          onOpen?.(row);
        }
      }}
    >
      {isSelectable && (
        <td>
          <input
            type="checkbox"
            aria-label={`Select ${title}`}
            checked={isSelected}
            onChange={() => {
              selected.value = toggled(selected.value, key);
            }}
          />
        </td>
      )}
      {status !== undefined && (
        <td>
          <Status kind={status.kind} text={status.text} />
        </td>
      )}
      {columns.map(({ id, cell, isNumber, rank = 1 }, index) =>
        index === 0 ? (
          <th key={id} scope="row">
            <RowTitle {...props}>{cell(row)}</RowTitle>
          </th>
        ) : (
          <td
            key={id}
            class={`${isNumber ? "number" : ""} ${rankClass({ rank })} ${sort === id || sort === `-${id}` ? "sorted" : ""}`}
          >
            {cell(row)}
          </td>
        ),
      )}
      {actions.length > 0 && (
        <td class="menu-cell">
          <RowMenu {...props} row={row} />
        </td>
      )}
    </tr>
  );
}
