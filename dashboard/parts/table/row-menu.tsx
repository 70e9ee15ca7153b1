import type { Signal } from "@preact/signals";
import { Icon } from "../icon.tsx";
import { MenuButton, type MenuItem } from "../menu.tsx";
import { openPath } from "./open-path.ts";
import type { RowAction } from "./table-props.ts";
import { toggled } from "./toggled.ts";

/** What can be done to a row; the destructive last, after a line. */
export function RowMenu<Row>(props: {
  readonly row: Row;
  readonly titleOf: (row: Row) => string;
  readonly pathOf?: (row: Row) => string;
  readonly actions?: readonly RowAction<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly isSelectable: boolean;
  readonly selected: Signal<ReadonlySet<string>>;
}) {
  const { row, titleOf, pathOf, actions = [], keyOf, isSelectable, selected } = props;
  const title = titleOf(row);
  const path = pathOf?.(row);
  const possible = actions.filter(({ appliesTo }) => appliesTo?.(row) ?? true);
  return (
    <MenuButton
      label={`Actions of ${title}`}
      items={() => [
        ...(path === undefined
          ? []
          : [{ text: "Open", icon: "open" as const, keyText: "↵", run: () => openPath(path) }]),
        ...possible.filter(({ isDestructive }) => !isDestructive).map((action) => itemOf(action, row)),
        ...(isSelectable
          ? [
              {
                text: "Select",
                icon: "check" as const,
                keyText: "X",
                run: () => {
                  selected.value = toggled(selected.value, keyOf(row));
                },
              },
            ]
          : []),
        {
          text: "Copy name",
          icon: "copy" as const,
          run: () => void navigator.clipboard?.writeText(title),
        },
        ...possible.filter(({ isDestructive }) => isDestructive).map((action) => itemOf(action, row)),
      ]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}

function itemOf<Row>({ text, icon, key, isDestructive = false, run }: RowAction<Row>, row: Row): MenuItem {
  return {
    text,
    ...(icon === undefined ? {} : { icon }),
    ...(key === undefined ? {} : { keyText: keyTextOf(key) }),
    isDestructive,
    isAfterLine: isDestructive,
    run: () => run(row),
  };
}

/** Returns a key as it is written on the keyboard. */
export function keyTextOf(key: string): string {
  return key === "delete" ? "Del" : key.toUpperCase();
}
