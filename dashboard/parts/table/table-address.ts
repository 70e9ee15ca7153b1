import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hashWithParameter, parameterOfHash } from "../address/address-parameters.ts";
import type { TableQuery } from "./table-query.ts";

/** A table's search, order and filters, which are in the address: links, reloads and Back restore them. */
export interface TableAddress {
  readonly query: ReadonlySignal<TableQuery>;
  search(text: string): void;
  sort(sort: string): void;
  filter(id: string, values: readonly string[]): void;
  clear(): void;
}

/**
 * @param name prefix of the parameters, unique among the tables of a page; empty for the page's main table
 * @param filterIds filters that the table has
 */
export function useTableAddress(name: string, filterIds: readonly string[]): TableAddress {
  const hash = useSignal(location.hash);
  const prefix = name === "" ? "" : `${name}.`;
  const known = filterIds.join(" ");
  useEffect(() => {
    const read = () => {
      hash.value = location.hash;
    };
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, [hash]);
  const set = (parameter: string, value: string) => {
    const next = hashWithParameter(location.hash, `${prefix}${parameter}`, value);
    if (next !== location.hash) {
      history.replaceState(history.state, "", next);
    }
    hash.value = next;
  };
  const query = useComputed(() => ({
    search: parameterOfHash(hash.value, `${prefix}q`),
    sort: parameterOfHash(hash.value, `${prefix}sort`),
    filters: new Map(
      known
        .split(" ")
        .filter(Boolean)
        .map((id) => [id, listOf(parameterOfHash(hash.value, prefix + id))] as const),
    ),
  }));
  return {
    query,
    search: (text) => set("q", text),
    sort: (sort) => set("sort", sort),
    filter: (id, values) => set(id, values.map(encodeURIComponent).join(",")),
    clear() {
      for (const parameter of ["q", ...filterIds]) {
        set(parameter, "");
      }
    },
  };
}

function listOf(parameter: string): readonly string[] {
  return parameter.split(",").filter(Boolean).map(decodeValue);
}

/** An address typed by hand may hold a value that is not encoded. */
function decodeValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
