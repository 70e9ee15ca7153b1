import { test } from "tap";
import type { Column, Filter } from "../../../../dashboard/parts/table/column.ts";
import { queryRows, type TableQuery, valuesOfFilter } from "../../../../dashboard/parts/table/table-query.ts";

interface Row {
  readonly name: string;
  readonly size?: number;
  readonly tags: readonly string[];
}

const rows: readonly Row[] = [
  { name: "web-10", size: 5, tags: ["team=a", "prod"] },
  { name: "web-2", size: 30, tags: ["team=b"] },
  { name: "db", tags: ["prod"] },
];
const columns: readonly Column<Row>[] = [
  { id: "name", title: "Name", cell: ({ name }) => name, sortBy: ({ name }) => name },
  { id: "size", title: "Size", cell: ({ size }) => size, sortBy: ({ size }) => size },
  { id: "note", title: "Note", cell: () => "" },
];
const tagFilter: Filter<Row> = { id: "tag", title: "tag", valuesOf: ({ tags }) => tags };

function namesOf(query: Partial<TableQuery>): readonly string[] {
  const full = { search: "", sort: "", filters: new Map(), ...query };
  const table = {
    columns,
    filters: [tagFilter],
    textOf: ({ name, tags }: Row) => `${name} ${tags.join(" ")}`,
  };
  return queryRows(rows, full, table).map(({ name }) => name);
}

test("every word of the search must occur, in any case and order", async (t) => {
  t.same(namesOf({ search: "TEAM web" }), ["web-10", "web-2"]);
  t.same(namesOf({ search: "team=a web" }), ["web-10"]);
  t.same(namesOf({ search: "nothing" }), []);
});

test("a row matches a filter by any of its values, and all filters together", async (t) => {
  t.same(namesOf({ filters: new Map([["tag", ["prod"]]]) }), ["web-10", "db"]);
  t.same(namesOf({ filters: new Map([["tag", ["prod", "team=b"]]]) }), ["web-10", "web-2", "db"]);
  t.same(namesOf({ filters: new Map([["tag", ["prod"]]]), search: "db" }), ["db"]);
  t.same(namesOf({ filters: new Map([["other", ["x"]]]) }), ["web-10", "web-2", "db"], "an unknown filter");
});

test("numbers in names are sorted as numbers, and rows without a value come last in both orders", async (t) => {
  t.same(namesOf({ sort: "name" }), ["db", "web-2", "web-10"]);
  t.same(namesOf({ sort: "-name" }), ["web-10", "web-2", "db"]);
  t.same(namesOf({ sort: "size" }), ["web-10", "web-2", "db"]);
  t.same(namesOf({ sort: "-size" }), ["web-2", "web-10", "db"]);
  t.same(namesOf({ sort: "note" }), ["web-10", "web-2", "db"], "a column that cannot be sorted");
  t.same(namesOf({ sort: "nothing" }), ["web-10", "web-2", "db"], "an unknown column");
});

test("the values of a filter are listed once each", async (t) => {
  t.same(valuesOfFilter(rows, tagFilter), ["prod", "team=a", "team=b"]);
});
