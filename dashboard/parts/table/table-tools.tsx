import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { Key } from "../key.tsx";
import { useKeys } from "../keys.ts";
import { MenuButton } from "../menu.tsx";
import type { Filter } from "./column.ts";
import type { TableAddress } from "./table-address.ts";
import { valuesOfFilter } from "./table-query.ts";

/** The search, the filters, the number of rows and the table's actions. */
export function TableTools<Row>(props: {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly foundCount: number;
  readonly filters: readonly Filter<Row>[];
  readonly address: TableAddress;
  /** Whether the key of the search is this one's. */
  readonly hasKeys: boolean;
  readonly children?: ComponentChildren;
}) {
  const { caption, rows, foundCount, filters, address, hasKeys, children } = props;
  const query = address.query.value;
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useKeys(hasKeys ? [{ key: "/", does: "filter the list", run: () => input.current?.focus() }] : []);
  return (
    <div class="table-head">
      <div class="filters">
        <div class="search">
          <Icon name="search" />
          <label for={id} class="sr">
            Filter {caption.toLowerCase()}
          </label>
          <input
            id={id}
            ref={input}
            type="text"
            placeholder="Filter"
            autocomplete="off"
            value={query.search}
            onInput={({ currentTarget }) => address.search(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                address.search("");
                event.currentTarget.blur();
              }
            }}
          />
          {hasKeys && <Key text="/" />}
        </div>
        {filters.map((filter) => {
          const values = query.filters.get(filter.id) ?? [];
          return values.length === 0 ? null : (
            <span class="chip" key={filter.id}>
              <span>
                <span class="quiet">{filter.title} is</span> <strong>{values.join(", ")}</strong>
              </span>
              <button
                type="button"
                aria-label={`Remove the filter ${filter.title}`}
                onClick={() => address.filter(filter.id, [])}
              >
                <Icon name="close" />
              </button>
            </span>
          );
        })}
        {filters.length > 0 && <AddFilter rows={rows} filters={filters} address={address} />}
      </div>
      <span class="count" role="status">
        {foundCount === rows.length
          ? rows.length.toLocaleString("en")
          : `${foundCount.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`}
      </span>
      {children}
    </div>
  );
}

/** First the property, then its values; a value that is chosen already is taken back. */
function AddFilter<Row>(props: {
  readonly rows: readonly Row[];
  readonly filters: readonly Filter<Row>[];
  readonly address: TableAddress;
}) {
  const { rows, filters, address } = props;
  const chosen = useSignal<Filter<Row> | undefined>(undefined);
  const query = address.query.value;
  const toggle = (filter: Filter<Row>, value: string) => {
    const now = query.filters.get(filter.id) ?? [];
    address.filter(filter.id, now.includes(value) ? now.filter((one) => one !== value) : [...now, value]);
  };
  const filter = chosen.value ?? (filters.length === 1 ? filters[0] : undefined);
  return (
    <>
      <MenuButton
        label={filter === undefined ? "Add a filter" : `Values of ${filter.title}`}
        class="add-filter"
        align="left"
        items={() =>
          filter === undefined
            ? filters.map((each) => ({
                text: each.title,
                run: () => {
                  chosen.value = each;
                },
              }))
            : [
                ...valuesOfFilter(rows, filter).map((value) => ({
                  text: value,
                  ...((query.filters.get(filter.id) ?? []).includes(value) ? { icon: "check" as const } : {}),
                  run: () => {
                    toggle(filter, value);
                    chosen.value = undefined;
                  },
                })),
              ]
        }
      >
        <Icon name="plus" /> {filter === undefined ? "Filter" : `${filter.title} is …`}
      </MenuButton>
      {chosen.value !== undefined && (
        <button
          type="button"
          class="bare small"
          onClick={() => {
            chosen.value = undefined;
          }}
        >
          Cancel
        </button>
      )}
    </>
  );
}
