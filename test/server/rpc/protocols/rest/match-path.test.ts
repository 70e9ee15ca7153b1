import * as fc from "fast-check";
import { test } from "tap";
import { compareTemplates, matchPath } from "../../../../../server/rpc/protocols/rest/match-path.ts";
import { parsePathTemplate } from "../../../../../server/rpc/protocols/rest/path-template.ts";

function match(template: string, path: string): Record<string, string> | undefined {
  const values = matchPath(parsePathTemplate(template), path);
  return values && Object.fromEntries(values);
}

test("a path matches by its segments", async (t) => {
  t.same(match("/v1/books", "/v1/books"), {});
  t.same(match("/v1/a%20b", "/v1/a b".replace(" ", "%20")), {});
  t.same(match("/v1/books", "/v1/%62ooks"), {});
  t.same(match("/v1/{name}", "/v1/x"), { name: "x" });
  t.same(match("/v1/{name=shelves/*/books/*}", "/v1/shelves/1/books/2"), { name: "shelves/1/books/2" });
  t.same(match("/v1/{name=shelves/*}/books/{id}", "/v1/shelves/1/books/2"), { name: "shelves/1", id: "2" });
  for (const path of [
    "/v1",
    "/v1/",
    "/v1/books/",
    "/v1/Books",
    "/v1/books/x",
    "//v1/books",
    "/V1/books",
    "v1/books",
  ]) {
    t.equal(match("/v1/books", path), undefined, path);
  }
  for (const path of ["/v1/shelves//books/2", "/v1/shelves/1/2/books/2", "/v1/shelves%2F1/books/2"]) {
    t.equal(match("/v1/{name=shelves/*/books/*}", path), undefined, path);
  }
});

test("`**` matches the whole rest, even an empty one", async (t) => {
  t.same(match("/v1/{path=**}", "/v1"), { path: "" });
  t.same(match("/v1/{path=**}", "/v1/a"), { path: "a" });
  t.same(match("/v1/{path=**}", "/v1/a/b/c"), { path: "a/b/c" });
  t.same(match("/v1/{path=files/**}", "/v1/files/b/c"), { path: "files/b/c" });
  t.same(match("/v1/{path=**}:stat", "/v1/a/b:stat"), { path: "a/b" });
  t.same(match("/v1/{path=**}:stat", "/v1/:stat"), { path: "" });
  t.equal(match("/v1/{path=**}", "/v1/"), undefined);
  t.equal(match("/v1/{path=**}", "/v1/a//b"), undefined);
});

test("a verb follows the last colon that is not encoded", async (t) => {
  t.same(match("/v1/{name}:lend", "/v1/a:lend"), { name: "a" });
  t.same(match("/v1/{name}:lend", "/v1/a:b:lend"), { name: "a:b" });
  t.same(match("/v1/{name}:lend", "/v1/a:l%65nd"), { name: "a" });
  t.same(match("/v1/{name}", "/v1/a:lend"), { name: "a:lend" });
  for (const path of ["/v1/a", "/v1/a:", "/v1/a:Lend", "/v1/a%3Alend", "/v1/:lend", "/v1/a/:lend"]) {
    t.equal(match("/v1/{name}:lend", path), undefined, path);
  }
});

test("a value is decoded, except for slashes in a value of several segments", async (t) => {
  t.same(match("/v1/{name}", "/v1/a%2Fb%20%C3%A9"), { name: "a/b é" });
  t.same(match("/v1/{name=**}", "/v1/a%2Fb/c%2fd%20e"), { name: "a%2Fb/c%2fd e" });
  t.same(match("/v1/{name}", "/v1/.."), { name: ".." });
  for (const path of ["/v1/%", "/v1/%zz", "/v1/%ff", "/v1/%e2%82"]) {
    t.equal(match("/v1/{name}", path), undefined, path);
  }
});

test("of two templates that match, the more specific one is first", async (t) => {
  const sorted = [
    "/v1/books",
    "/v1/books/new",
    "/v1/books/*:lend",
    "/v1/books/*",
    "/v1/books/**",
    "/v1/*/new",
    "/v1/*/*",
    "/v1/**",
  ].map(parsePathTemplate);
  t.same(sorted.toReversed().toSorted(compareTemplates), sorted);
  const [one, other] = [parsePathTemplate("/v1/{a=x/*}"), parsePathTemplate("/v1/x/{b}")];
  t.equal(compareTemplates(one, other), 0);
});

const value = fc.string({ minLength: 1, unit: "grapheme" });

test("the path of any value gives it back", async () => {
  fc.assert(
    fc.property(value, value, (shelf, id) => {
      const path = `/v1/shelves/${encodeURIComponent(shelf)}/books/${encodeURIComponent(id)}`;
      const values = matchPath(parsePathTemplate("/v1/shelves/{shelf}/books/{book.id}"), path);
      return values?.get("shelf") === shelf && values.get("book.id") === id;
    }),
  );
});

test("no path throws, and a match has the right number of segments", async () => {
  const template = parsePathTemplate("/v1/{a=x/*}/{b}:do");
  const pieces = fc.array(fc.constantFrom("/", "v1", "x", ":", "do", "%", "%2F", "%ff", "y", "{", "*"));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((parts) => `/v1/x/${parts.join("")}`),
      ),
      (path) => {
        const values = matchPath(template, path);
        return values === undefined || (path.split("/").length === 5 && path.endsWith(":do"));
      },
    ),
    { numRuns: 2000 },
  );
});
