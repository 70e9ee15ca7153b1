import { batchesBySize } from "../../rpc/listing/batches-by-size.ts";
import { pageMaxBytes } from "../../rpc/listing/read-page.ts";
import type { InventoryRow } from "./read-inventory.ts";
import {
  matchesFilter,
  type PagePosition,
  type ResourceOrder,
  type ResourceQuery,
} from "./resource-query.ts";

export interface ResourcePage {
  readonly rows: readonly InventoryRow[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** Returns about how many bytes a row takes in a message of any encoding. */
export function sizeOfRow(row: InventoryRow): number {
  return Buffer.byteLength(JSON.stringify(row));
}

/**
 * Selects a page: what matches, in the requested order, after the position of the token. A position need not exist any more:
 * resources that come and go between pages move no others. A page with large resources has fewer.
 */
export function pageOf(rows: readonly InventoryRow[], query: ResourceQuery): ResourcePage {
  const { filter, order, pageSize, after } = query;
  const matching = rows
    .filter((row) => matchesFilter(filter, row))
    .map((row) => ({ row, position: positionOf(row, order) }))
    .filter(({ position }) => after === undefined || comparePositions(position, after, order) > 0)
    .toSorted((a, b) => comparePositions(a.position, b.position, order));
  const limits = { items: pageSize, bytes: pageMaxBytes };
  const [page = []] = batchesBySize(matching.slice(0, pageSize), ({ row }) => sizeOfRow(row), limits);
  const last = page.at(-1);
  return {
    rows: page.map(({ row }) => row),
    nextPageToken: last === undefined || page.length === matching.length ? "" : query.tokenOf(last.position),
  };
}

function positionOf(row: InventoryRow, { key }: ResourceOrder): PagePosition {
  return { host: row.host, name: row.resource.name, value: sortValueOf(row, key) };
}

function sortValueOf({ host, resource }: InventoryRow, key: string): string | number | undefined {
  switch (key) {
    case "host":
      return host;
    case "name":
    case "title":
    case "type":
    case "state":
    case "health":
      return resource[key];
    default:
      return resource.figures.find(({ name }) => name === key)?.value;
  }
}

/** Orders by the sort key, resources without it last, and equal ones by name and host. */
function comparePositions(a: PagePosition, b: PagePosition, { isDescending }: ResourceOrder): number {
  if (a.value === undefined || b.value === undefined) {
    return a.value === b.value ? compareNames(a, b) : a.value === undefined ? 1 : -1;
  }
  const byValue = compare(a.value, b.value);
  return (isDescending ? -byValue : byValue) || compareNames(a, b);
}

function compareNames(a: PagePosition, b: PagePosition): number {
  return compare(a.name, b.name) || compare(a.host, b.host);
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
