import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { ListResourcesRequestSchema, ResourceHealth } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import type { Resource } from "../../../../server/domain/inventory-source.ts";
import { pageOf } from "../../../../server/domains/inventory/resource-page.ts";
import { parseResourceQuery } from "../../../../server/domains/inventory/resource-query.ts";
import { resource } from "./resources.ts";

const known = { types: ["pod", "volume"], domains: ["pods", "volumes"] };
type Init = Parameters<typeof create<typeof ListResourcesRequestSchema>>[1];
const queryOf = (init: Init) => parseResourceQuery(create(ListResourcesRequestSchema, init), known);
const rowsOf = (resources: readonly Resource[]) =>
  resources.map((each) => ({
    resource: each,
    domain: each.type === "pod" ? "pods" : "volumes",
    host: "",
    readAtMs: 0,
  }));
const namesOf = (resources: readonly Resource[], init: Init) =>
  pageOf(rowsOf(resources), queryOf(init)).rows.map((row) => row.resource.name);

function reasonOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return error;
  }
}

/** Names of all pages, in their order. */
function allNames(resources: readonly Resource[], init: Init): string[] {
  const names: string[] = [];
  let pageToken = "";
  do {
    const page = pageOf(rowsOf(resources), queryOf({ ...init, pageToken }));
    names.push(...page.rows.map((row) => row.resource.name));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return names;
}

const size = (value: number) => [{ name: "size", value, unit: "bytes" as const }];
const examples = [
  resource("b", { figures: size(2), labels: { team: "a" } }),
  resource("a", { figures: size(3), state: "inactive" }),
  resource("p", { type: "pod", title: "Web", health: "failed", labels: { team: "b", web: "" } }),
];

test("resources are filtered by each condition, and sorted by name unless another order is requested", async (t) => {
  t.same(namesOf(examples, {}), ["a", "b", "p"]);
  t.same(namesOf(examples, { filter: { types: ["volume"] } }), ["a", "b"]);
  t.same(namesOf(examples, { filter: { domains: ["pods"] } }), ["p"]);
  t.same(namesOf(examples, { filter: { states: ["inactive", "gone"] } }), ["a"]);
  t.same(namesOf(examples, { filter: { health: [ResourceHealth.FAILED] } }), ["p"]);
  t.same(namesOf(examples, { filter: { labels: { team: "" } } }), ["b", "p"]);
  t.same(namesOf(examples, { filter: { labels: { team: "b", web: "" } } }), ["p"]);
  t.same(namesOf(examples, { filter: { labels: { toString: "" } } }), [], "only own labels count");
  t.same(namesOf(examples, { filter: { search: "WEB team=b" } }), ["p"], "each word, whatever its case");
  t.same(namesOf(examples, { filter: { search: "web team=a" } }), []);
  t.same(namesOf(examples, { orderBy: "size" }), ["b", "a", "p"], "those without the figure come last");
  t.same(namesOf(examples, { orderBy: "size desc" }), ["a", "b", "p"]);
  t.same(namesOf(examples, { orderBy: "name desc" }), ["p", "b", "a"]);
});

test("pages of any size and order hold each resource once, in one order", async (t) => {
  const anyResource = fc.record({
    type: fc.constantFrom("volume", "pod"),
    state: fc.constantFrom("active", "inactive", "ä\u0000"),
    figures: fc.oneof(
      fc.constant([]),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => size(value)),
    ),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 30 }),
      fc.array(anyResource, { minLength: 30, maxLength: 30 }),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom("name", "title desc", "state", "state desc", "size", "size desc", "health"),
      (names, facts, pageSize, orderBy) => {
        const resources = names.map((name, index) => resource(name, facts[index]));
        const paged = allNames(resources, { orderBy, pageSize });
        const whole = allNames(resources, { orderBy, pageSize: 1000 });
        return JSON.stringify(paged) === JSON.stringify(whole) && new Set(paged).size === names.length;
      },
    ),
  );
  t.pass();
});

test("a page of large resources has fewer of them, and a token for the rest", async (t) => {
  // As long as a host may report them, with characters that JSON escapes.
  const key = (index: number) => `${String(index).padStart(3, "0")}${"\u0001".repeat(1021)}`;
  const large = Array.from({ length: 100 }, (_, index) =>
    resource(key(index), { title: key(index), labels: { text: "x".repeat(50_000) } }),
  );
  const first = pageOf(rowsOf(large), queryOf({ pageSize: 1000, orderBy: "title" }));
  t.ok(JSON.stringify(first.rows).length < 2_000_000, "far below the limit of a message");
  t.same(
    allNames(large, { pageSize: 1000, orderBy: "title" }),
    large.map(({ name }) => name),
  );
});

test("a resource that goes between two pages moves no other", async (t) => {
  const first = pageOf(rowsOf(examples), queryOf({ pageSize: 1 }));
  t.same(
    first.rows.map((row) => row.resource.name),
    ["a"],
  );
  const rest = examples.filter(({ name }) => name !== "a");
  const second = pageOf(rowsOf(rest), queryOf({ pageSize: 1, pageToken: first.nextPageToken }));
  t.same(
    second.rows.map((row) => row.resource.name),
    ["b"],
  );
});

test("bad requests name the field and what is expected", async (t) => {
  const { nextPageToken } = pageOf(rowsOf(examples), queryOf({ pageSize: 1 }));
  for (const [field, init] of [
    ["filter.types[0]", { filter: { types: ["volumes"] } }],
    ["filter.domains[1]", { filter: { domains: ["pods", "nope"] } }],
    ["filter.health[0]", { filter: { health: [9 as ResourceHealth] } }],
    ["filter.states", { filter: { states: Array.from({ length: 65 }, String) } }],
    ["filter.labels", { filter: { labels: { a: "x".repeat(1025) } } }],
    ["filter.search", { filter: { search: "x".repeat(201) } }],
    ["order_by", { orderBy: "size up" }],
    ["order_by", { orderBy: "__proto__" }],
    ["page_size", { pageSize: -1 }],
    ["page_token", { pageToken: "?" }],
    ["page_token", { pageToken: Buffer.from("x".repeat(40)).toString("base64url") }],
    ["page_token", { pageToken: nextPageToken, orderBy: "state" }],
    ["page_token", { pageToken: nextPageToken, filter: { search: "a" } }],
  ] as const satisfies readonly (readonly [string, Init])[]) {
    t.match(
      reasonOf(() => queryOf(init)),
      { reason: "INVALID_FIELD", violations: [{ field }] },
      field,
    );
  }
  const hosts = Array.from({ length: 1001 }, String);
  t.match(
    reasonOf(() => queryOf({ filter: { hosts } })),
    { message: /at most 1000 values/ },
  );
});

test("no page token makes the parser fail otherwise", async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (pageToken) => {
      try {
        queryOf({ pageToken });
        return pageToken === "";
      } catch (error) {
        return hasReason(error, hostReasons.INVALID_FIELD);
      }
    }),
  );
  t.pass();
});
