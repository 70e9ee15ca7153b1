import { type Signal, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { type KeyBinding, useKeys } from "../keys.ts";
import { phoneQuery, useMedia } from "../use-media.ts";
import { useKeyTable } from "./key-table.ts";
import { openPath } from "./open-path.ts";
import { RowCards } from "./row-cards.tsx";
import { useTableAddress } from "./table-address.ts";
import type { RowAction, TableProps } from "./table-props.ts";
import { queryRows } from "./table-query.ts";
import { TableRows } from "./table-rows.tsx";
import { TableTools } from "./table-tools.tsx";
import { toggled } from "./toggled.ts";
import { scrollToRow } from "./use-virtual-rows.ts";

/** Heights in pixels, as in `style/tokens.css`: a row, a card with the gap below it, and the head of a table. */
const rowPx = 32;
const cardPx = 104;
const headPx = 32;
/** A list that is seen at a glance needs no search. */
const fewRows = 8;

/**
 * The one table of the dashboard: it draws only the rows in view, and is searched, filtered, sorted, selected and used by keyboard.
 * On a phone its rows are cards.
 */
export function DataTable<Row>(props: TableProps<Row>) {
  const { name = "", columns, rows, keyOf, titleOf, textOf, filters = [], actions = [] } = props;
  const address = useTableAddress(
    name,
    filters.map(({ id }) => id),
  );
  const query = address.query.value;
  const found = useMemo(
    () =>
      queryRows(rows, query, {
        columns,
        filters,
        textOf: (row) => `${titleOf(row)} ${textOf?.(row) ?? ""}`,
      }),
    [rows, query, columns, filters],
  );
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const at = useSignal<string | undefined>(undefined);
  const list = useRef<HTMLElement>(null);
  const isPhone = useMedia(phoneQuery);
  const isSelectable = actions.some(({ runAll }) => runAll !== undefined);
  const { hasKeys, use } = useKeyTable();
  useKeys(
    hasKeys.value
      ? keysOf(props, found, selected, at, isSelectable, (index) =>
          scrollToRow(list.current, index, isPhone ? cardPx : rowPx, isPhone ? 0 : headPx),
        )
      : [],
  );
  const shown = { ...props, found, selected, at, isSelectable, list };
  // A selected row may have been removed since.
  const chosen = selected.value.size === 0 ? [] : rows.filter((row) => selected.value.has(keyOf(row)));
  const hasTools = props.hasTools ?? rows.length >= fewRows;
  const isFiltered = query.search !== "" || [...query.filters.values()].some(({ length }) => length > 0);
  return (
    <section class="stack" aria-label={props.caption} onFocusCapture={use} onPointerDownCapture={use}>
      {(hasTools || isFiltered) && (
        <TableTools
          caption={props.caption}
          rows={rows}
          foundCount={found.length}
          filters={filters}
          address={address}
          hasKeys={hasKeys.value}
        >
          {props.tools}
        </TableTools>
      )}
      {!(hasTools || isFiltered) && props.tools !== undefined && <div class="row end">{props.tools}</div>}
      {rows.length === 0 && <div class="empty">{props.empty}</div>}
      {rows.length > 0 && found.length === 0 && (
        <div class="no-match">
          <span>No match</span>
          <button type="button" class="small" onClick={address.clear}>
            Clear filters
          </button>
        </div>
      )}
      {found.length > 0 &&
        (isPhone ? (
          <RowCards {...shown} rowPx={cardPx} />
        ) : (
          <TableRows {...shown} rowPx={rowPx} sort={query.sort} onSort={address.sort} />
        ))}
      {chosen.length > 0 && (
        <BulkBar
          rows={chosen}
          actions={actions}
          onClose={() => {
            selected.value = new Set();
          }}
        />
      )}
    </section>
  );
}

/** The table's keys: to move, to select, to open, and those of the actions. */
function keysOf<Row>(
  { keyOf, pathOf, onOpen, actions = [] }: TableProps<Row>,
  found: readonly Row[],
  selected: Signal<ReadonlySet<string>>,
  at: Signal<string | undefined>,
  isSelectable: boolean,
  show: (index: number) => void,
): readonly KeyBinding[] {
  const indexNow = () => found.findIndex((row) => keyOf(row) === at.peek());
  const rowNow = () => found[indexNow()];
  const move = (by: number) => {
    const index = Math.min(Math.max(indexNow() + by, 0), found.length - 1);
    const row = found[index];
    if (row !== undefined) {
      at.value = keyOf(row);
      show(index);
    }
  };
  const select = () => {
    const row = rowNow();
    if (isSelectable && row !== undefined) {
      selected.value = toggled(selected.peek(), keyOf(row));
    }
  };
  const extend = (by: number) => {
    const row = rowNow();
    if (row !== undefined && !selected.peek().has(keyOf(row))) {
      select();
    }
    move(by);
    const next = rowNow();
    if (next !== undefined && !selected.peek().has(keyOf(next))) {
      select();
    }
  };
  return [
    { key: "j", does: "next row", run: () => move(1) },
    { key: "k", does: "previous row", run: () => move(-1) },
    { key: "arrowdown", run: () => move(1) },
    { key: "arrowup", run: () => move(-1) },
    { key: "shift arrowdown", run: () => extend(1) },
    { key: "shift arrowup", run: () => extend(-1) },
    ...(isSelectable ? [{ key: "x", does: "select the row", run: select }] : []),
    {
      key: "escape",
      run: () => {
        selected.value = new Set();
        at.value = undefined;
      },
    },
    ...(pathOf === undefined && onOpen === undefined
      ? []
      : [
          {
            key: "enter",
            does: "open the row",
            run: () => {
              const row = rowNow();
              if (row !== undefined && pathOf !== undefined) {
                openPath(pathOf(row));
              } else if (row !== undefined) {
                onOpen?.(row);
              }
            },
          },
        ]),
    ...actions.flatMap(({ key, text, run, runAll, appliesTo }) =>
      key === undefined
        ? []
        : [
            {
              key,
              does: text.replace("…", ""),
              run: () => {
                const rows = found.filter((row) => selected.peek().has(keyOf(row)));
                const possible = rows.filter((row) => appliesTo?.(row) ?? true);
                const row = rowNow();
                if (rows.length > 0 && runAll !== undefined) {
                  if (possible.length > 0) {
                    runAll(possible);
                  }
                } else if (row !== undefined && (appliesTo?.(row) ?? true)) {
                  run(row);
                }
              },
            },
          ],
    ),
  ];
}

/** What can be done to the selected rows. */
function BulkBar<Row>(props: {
  readonly rows: readonly Row[];
  readonly actions: readonly RowAction<Row>[];
  readonly onClose: () => void;
}) {
  const { rows, actions, onClose } = props;
  return (
    <div class="bulk" role="toolbar" aria-label="Selected rows">
      <span class="quiet">
        <strong>{rows.length} selected</strong>
      </span>
      {actions.map(({ text, runAll, appliesTo = () => true }) => {
        const possible = rows.filter(appliesTo);
        return runAll === undefined ? null : (
          <button
            key={text}
            type="button"
            class="bare"
            disabled={possible.length === 0}
            onClick={() => runAll(possible)}
          >
            {text}
          </button>
        );
      })}
      <button type="button" class="bare icon" aria-label="Clear the selection" onClick={onClose}>
        ×
      </button>
    </div>
  );
}
