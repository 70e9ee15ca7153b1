import type { RefObject } from "preact";
import { Status } from "../status.tsx";
import { RowMenu } from "./row-menu.tsx";
import { RowTitle } from "./row-title.tsx";
import type { ShownRows } from "./table-rows.tsx";
import { toggled } from "./toggled.ts";
import { useVirtualRows } from "./use-virtual-rows.ts";

/** The rows as cards, for a phone: status, name and menu; place; figures. */
export function RowCards<Row>(props: ShownRows<Row>) {
  const { caption, found, keyOf, list } = props;
  const { start, end, beforePx, afterPx } = useVirtualRows(list, found.length, props.rowPx);
  return (
    <ul class="cards-list" aria-label={caption} ref={list as RefObject<HTMLUListElement>}>
      {beforePx > 0 && <SpacerItem px={beforePx} />}
      {found.slice(start, end).map((row) => (
        <Card key={keyOf(row)} {...props} row={row} />
      ))}
      {afterPx > 0 && <SpacerItem px={afterPx} />}
    </ul>
  );
}

function SpacerItem({ px }: { readonly px: number }) {
  return (
    <li class="spacer" aria-hidden="true">
      <svg width="1" height={px} aria-hidden="true" />
    </li>
  );
}

function Card<Row>(props: ShownRows<Row> & { readonly row: Row }) {
  const { row, columns, keyOf, titleOf, statusOf, actions = [], isSelectable, selected } = props;
  const key = keyOf(row);
  const title = titleOf(row);
  const status = statusOf?.(row);
  const isSelected = selected.value.has(key);
  return (
    <li>
      <div class={isSelected ? "row-card selected" : "row-card"}>
        <div class="name">
          {isSelectable && selected.value.size > 0 && (
            <input
              type="checkbox"
              aria-label={`Select ${title}`}
              checked={isSelected}
              onChange={() => {
                selected.value = toggled(selected.value, key);
              }}
            />
          )}
          {status !== undefined && <Status kind={status.kind} text={status.text} />}
          <RowTitle {...props}>{columns[0]?.cell(row)}</RowTitle>
          {actions.length > 0 && <RowMenu {...props} row={row} />}
        </div>
        <div class="places">
          {columns
            .filter(({ onCard }) => onCard === "place")
            .map(({ id, cell }) => (
              <span key={id}>{cell(row)}</span>
            ))}
        </div>
        <div class="figures">
          {columns
            .filter(({ onCard }) => onCard === "figure")
            .map(({ id, cell }) => (
              <span key={id}>{cell(row)}</span>
            ))}
        </div>
      </div>
    </li>
  );
}
