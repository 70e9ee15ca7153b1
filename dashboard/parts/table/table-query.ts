import type { Column, Filter } from "./column.ts";

/** What a table shows of its rows. */
export interface TableQuery {
  /** Words that must all occur in a row's text. */
  readonly search: string;
  /** Column id, with a minus in front for the reverse order; empty for the given order. */
  readonly sort: string;
  /** Chosen values by filter id. */
  readonly filters: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns the rows that match, in order.
 * @param textOf a row's text for the search
 */
export function queryRows<Row>(
  rows: readonly Row[],
  { search, sort, filters }: TableQuery,
  table: {
    readonly columns: readonly Column<Row>[];
    readonly filters: readonly Filter<Row>[];
    readonly textOf: (row: Row) => string;
  },
): readonly Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = table.filters.flatMap(({ id, valuesOf }) => {
    const values = filters.get(id);
    return values === undefined || values.length === 0 ? [] : [{ values: new Set(values), valuesOf }];
  });
  const found =
    words.length === 0 && chosen.length === 0
      ? rows
      : rows.filter((row) => {
          const text = words.length === 0 ? "" : table.textOf(row).toLowerCase();
          return (
            words.every((word) => text.includes(word)) &&
            chosen.every(({ values, valuesOf }) => valuesOf(row).some((value) => values.has(value)))
          );
        });
  const isReverse = sort.startsWith("-");
  const sortBy = table.columns.find(({ id }) => id === (isReverse ? sort.slice(1) : sort))?.sortBy;
  return sortBy === undefined ? found : sorted(found, sortBy, isReverse);
}

const collator = new Intl.Collator("en", { numeric: true });

/** Values are computed once for each row; rows without a value come last in both orders. */
function sorted<Row>(
  rows: readonly Row[],
  sortBy: (row: Row) => string | number | undefined,
  isReverse: boolean,
): readonly Row[] {
  const keyed = rows.map((row) => ({ row, value: sortBy(row) }));
  keyed.sort((one, other) => {
    if (one.value === undefined || other.value === undefined) {
      return Number(one.value === undefined) - Number(other.value === undefined);
    }
    const order =
      typeof one.value === "number" && typeof other.value === "number"
        ? one.value - other.value
        : collator.compare(String(one.value), String(other.value));
    return isReverse ? -order : order;
  });
  return keyed.map(({ row }) => row);
}

/** Returns the values of a filter that occur, sorted. */
export function valuesOfFilter<Row>(rows: readonly Row[], { valuesOf }: Filter<Row>): readonly string[] {
  return [...new Set(rows.flatMap(valuesOf))].filter((value) => value !== "").toSorted(collator.compare);
}
