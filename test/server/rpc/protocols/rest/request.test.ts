import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import * as fc from "fast-check";
import { type Test, test } from "tap";
import { type InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import { registerRefusal } from "../../../../../server/rpc/call/service-handlers.ts";
import { infraErrorFrom } from "../../../../../server/rpc/errors/connect-error.ts";
import { matchPath } from "../../../../../server/rpc/protocols/rest/match-path.ts";
import { maxUrlBytes, readRestRequest } from "../../../../../server/rpc/protocols/rest/request.ts";
import { restRoutes } from "../../../../../server/rpc/protocols/rest/routes.ts";
import { createLibrary } from "./library.ts";

const routes = restRoutes([registerRefusal(createLibrary(), () => invalidField("none", "is never called"))]);

interface Sent {
  readonly body?: string | Uint8Array;
  readonly isStrict?: boolean;
  readonly contentType?: string;
}

/** Returns the message of a request to a method, as JSON with the names of the contract. */
async function read(name: string, url: string, sent: Sent = {}) {
  const [path = ""] = url.split("?");
  for (const route of routes.filter(({ method }) => method.name === name)) {
    const variables = matchPath(route.template, path);
    if (variables !== undefined) {
      const { contentType, isStrict = true, body = "" } = sent;
      const readBody = async () => Buffer.from(body);
      const { message, unknownFields } = await readRestRequest(
        route,
        { url, variables, contentType, readBody },
        isStrict,
      );
      return { json: toJson(route.method.input, message, { useProtoFieldName: true }), unknownFields };
    }
  }
  throw new TypeError(`${name} has no route ${url}`);
}

const shelf = "/v1/shelves/1/books";

async function reads(t: Test, query: string, json: JsonObject, isStrict = true): Promise<void> {
  const result = await read("ListBooks", `${shelf}?${query}`, { isStrict });
  t.same(result, { json: { shelf: "shelves/1", ...json }, unknownFields: [] }, query);
}

async function errorOf(reading: Promise<unknown>): Promise<InfraError> {
  try {
    await reading;
  } catch (error) {
    return infraErrorFrom(error);
  }
  throw new TypeError("it was read");
}

async function refuses(t: Test, query: string, field: string, message: RegExp): Promise<void> {
  for (const isStrict of [true, false]) {
    const error = await errorOf(read("ListBooks", `${shelf}?${query}`, { isStrict }));
    t.match(error, { reason: "INVALID_FIELD", message, violations: [{ field }] }, query);
  }
}

test("a query has a form for values of every type", async (t) => {
  await reads(t, "", {});
  await reads(t, "page_size=7", { page_size: 7 });
  await reads(t, "pageSize=-7", { page_size: -7 });
  await reads(t, "since_id=-9223372036854775808", { since_id: "-9223372036854775808" });
  await reads(t, "max_id=18446744073709551615", { max_id: "18446744073709551615" });
  await reads(t, "has_cover=true", { has_cover: true });
  await reads(t, "has_cover=false", {});
  await reads(t, "page_token=-_8", { page_token: "+/8=" });
  await reads(t, "page_token=%2B%2F8%3D", { page_token: "+/8=" });
  await reads(t, "min_price=1.5e3", { min_price: 1500 });
  await reads(t, "min_price=-Infinity", { min_price: "-Infinity" });
  await reads(t, "tags=a&tags=&tags=b%26c", { tags: ["a", "", "b&c"] });
  await reads(t, "ids=3&ids=1&ids=3", { ids: [3, 1, 3] });
  await reads(t, "genre=GENRE_ATLAS", { genre: "GENRE_ATLAS" });
  await reads(t, "genre=2", { genre: "GENRE_ATLAS" });
  await reads(t, "genres=1&genres=GENRE_ATLAS", { genres: ["GENRE_NOVEL", "GENRE_ATLAS"] });
  await reads(t, "filter.author_name=Ann&filter.inner.authorName=Bo", {
    filter: { author_name: "Ann", inner: { author_name: "Bo" } },
  });
  await reads(t, "before=2026-01-02T03:04:05.5%2B01:00", { before: "2026-01-02T02:04:05.500Z" });
  await reads(t, "max_age=-1.5s", { max_age: "-1.500s" });
  await reads(t, "readMask=title,pageCount", { read_mask: "title,pageCount" });
  await reads(t, "title=&min_pages=10&is_lent=false", { title: "", min_pages: "10", is_lent: false });
});

test("a value that does not match its field's type is refused, and the field is named", async (t) => {
  await refuses(t, "page_size=", "page_size", /must be a whole number, is empty/);
  await refuses(t, "page_size=0x10", "page_size", /must be a whole number, is 0x10/);
  await refuses(t, "page_size=1e3", "page_size", /whole number/);
  await refuses(t, "page_size=2147483648", "page_size", /from -2147483648 to 2147483647, is .?2147483648/);
  await refuses(t, "since_id=", "since_id", /must be a whole number/);
  await refuses(t, "max_id=-1", "max_id", /from 0 to 18446744073709551615/);
  await refuses(t, "has_cover=1", "has_cover", /must be true or false, is 1/);
  await refuses(t, "page_token=+/8=", "page_token", /must be base64/);
  await refuses(t, "min_price=1,5", "min_price", /must be a number/);
  await refuses(t, "min_price=0x10", "min_price", /must be a number/);
  await refuses(t, "ids=1&ids=x", "ids", /whole number, is x/);
  await refuses(t, "max_age=1", "max_age", /seconds such as 1\.5s/);
  await refuses(t, "max_age=1s1", "max_age", /seconds/);
  await refuses(t, "min_pages=x", "min_pages", /whole number/);
  await refuses(t, "is_lent=yes", "is_lent", /true or false/);
  t.match(await errorOf(read("ListBooks", `${shelf}?before=today`)), { code: "INVALID_ARGUMENT" });
  t.match(await errorOf(read("ListBooks", `${shelf}?genre=GENRE_POEM`)), { code: "INVALID_ARGUMENT" });
});

test("a field that a query cannot contain, or contains twice, is refused", async (t) => {
  await refuses(t, "filter=x", "filter", /cannot be written in a query/);
  await refuses(t, "filters=x", "filters", /cannot be written in a query/);
  await refuses(t, "labels=x", "labels", /cannot be written in a query/);
  await refuses(t, "page_size=1&page_size=1", "page_size", /is given 2 times/);
  await refuses(t, "page_size=1&pageSize=2", "page_size", /is given 2 times/);
  await refuses(t, "shelf=shelves/1", "shelf", /is in the path and must not/);
  await refuses(t, "passCode=x", "pass_code", /is a secret and must not be in a URL/);
});

test("a change refuses an unknown parameter; a read ignores and names it", async (t) => {
  const query =
    "page_sise=1&filter.nam=x&filters.author_name=x&before.seconds=1&__proto__=1&%20=2&page_size=3&page_sise=4";
  const unknown = ["page_sise", "filter.nam", "filters.author_name", "before.seconds", "__proto__", " "];
  t.match(await errorOf(read("ListBooks", `${shelf}?${query}`)), {
    reason: "UNKNOWN_FIELD",
    violations: unknown.map((field) => ({ field })),
  });
  t.same(await read("ListBooks", `${shelf}?${query}&genre=GENRE_POEM`, { isStrict: false }), {
    json: { shelf: "shelves/1", page_size: 3 },
    unknownFields: [...unknown, "genre"],
  });
});

test("a body is the whole message, or one field of it", async (t) => {
  t.same(
    await read("ReplaceBook", "/v1/shelves/1/books/2", { body: '{"pageCount": "7", "author_name": "Ann"}' }),
    {
      json: { name: "shelves/1/books/2", page_count: "7", author_name: "Ann" },
      unknownFields: [],
    },
  );
  t.same(
    await read("CreateBook", `${shelf}?check_only=true&edition=2`, {
      body: ' {"name": "x", "genre": "GENRE_NOVEL"} ',
    }),
    {
      json: {
        shelf: "shelves/1",
        check_only: true,
        edition: 2,
        book: { name: "x", genre: "GENRE_NOVEL" },
      },
      unknownFields: [],
    },
  );
  t.same(
    await read("UpdateBook", "/v1/shelves/1/books/2?update_mask=name", { body: '{"author_name": "Ann"}' }),
    {
      json: { book: { name: "shelves/1/books/2", author_name: "Ann" }, update_mask: "name" },
      unknownFields: [],
    },
  );
  t.match(await read("CreateBook", shelf), { json: { shelf: "shelves/1" } });
  t.match(await read("CreateBook", shelf, { body: "null" }), { json: { shelf: "shelves/1" } });
});

test("the body may repeat a field of the path but not change it", async (t) => {
  for (const [name, body] of [
    ["ReplaceBook", '{"name": "shelves/1/books/2"}'],
    ["UpdateBook", '{"name": "shelves/1/books/2"}'],
  ] as const) {
    t.match(await read(name, "/v1/shelves/1/books/2", { body }), { unknownFields: [] });
    t.match(await errorOf(read(name, "/v1/shelves/1/books/3", { body })), {
      reason: "INVALID_FIELD",
      message: /differs between the body and the path/,
    });
  }
});

test("a parameter for a field that belongs in the body is refused", async (t) => {
  t.match(await errorOf(read("CreateBook", `${shelf}?book.name=x`)), {
    reason: "INVALID_FIELD",
    message: /belongs to book, which must be in the body/,
  });
  const url = "/v1/shelves/1/books/2?author_name=Ann";
  t.match(await errorOf(read("ReplaceBook", url, { body: "{}" })), { reason: "UNKNOWN_FIELD" });
  t.match(await read("ReplaceBook", url, { body: "{}", isStrict: false }), {
    unknownFields: ["author_name"],
  });
});

test("a body that the route does not accept is refused", async (t) => {
  const malformed = async (name: string, url: string, sent: Sent) =>
    t.match(await errorOf(read(name, url, sent)), { reason: "MALFORMED_REQUEST" }, JSON.stringify(sent));
  const book = "/v1/shelves/1/books/2";
  for (const body of [
    "{",
    "[]",
    "1",
    '"x"',
    "null",
    "{} {}",
    '{"name": "a", "name": "a"}',
    Buffer.from([0x22, 0xff, 0x22]),
  ]) {
    await malformed("ReplaceBook", book, { body });
  }
  for (const body of ["{", "[]", '{}, "shelf": {}', '{}} {"book": {}', "{} {}"]) {
    await malformed("CreateBook", shelf, { body });
  }
  for (const contentType of [
    "multipart/form-data; boundary=x",
    "application/proto",
    "application/octet-stream",
  ]) {
    await malformed("ReplaceBook", book, { body: "{}", contentType });
  }
  await malformed("DeleteBook", book, { body: "{}" });
  t.match(await read("GetBook", book, { body: "{}", isStrict: false }), {
    json: { name: "shelves/1/books/2" },
  });
  t.match(await errorOf(read("CreateBook", shelf, { body: '{"nam": "x"}' })), {
    reason: "UNKNOWN_FIELD",
    violations: [{ field: "nam" }],
  });
  t.match(await read("CreateBook", shelf, { body: '{"nam": "x"}', isStrict: false }), {
    unknownFields: ["book.nam"],
  });
});

test("a URL beyond the limit is refused, and the limit is named", async (t) => {
  const query = "tags=";
  const fitting = `${shelf}?${query}${"A".repeat(maxUrlBytes - shelf.length - 1 - query.length)}`;
  t.match(await read("ListBooks", fitting), { unknownFields: [] });
  t.match(await errorOf(read("ListBooks", `${fitting}AAAA`)), {
    reason: "MESSAGE_TOO_LARGE",
    message: /8196 bytes, more than the limit of 8192/,
  });
});

test("a query that names fields nested too deep is refused", async (t) => {
  const deep = `filter.${"inner.".repeat(200)}author_name=x`;
  t.match(await errorOf(read("ListBooks", `${shelf}?${deep}`)), { code: "INVALID_ARGUMENT" });
});

const listBooks = routes.find(({ method }) => method.name === "ListBooks")?.method.input;

test("for a message of plain fields, a query gives the same as protobuf's JSON", async () => {
  const text = fc.string({ unit: "grapheme" });
  const request = fc.record(
    {
      page_size: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      since_id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
      has_cover: fc.boolean(),
      page_token: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64url")),
      // Text has no negative zero.
      min_price: fc.double({ noNaN: true, noDefaultInfinity: true }).map((price) => price || 0),
      tags: fc.array(text),
      genres: fc.array(fc.constantFrom("GENRE_NOVEL", "GENRE_ATLAS")),
      title: text,
    },
    { requiredKeys: [] },
  );
  if (listBooks === undefined) {
    throw new TypeError("there is no ListBooks");
  }
  const input = listBooks;
  await fc.assert(
    fc.asyncProperty(request, async (json) => {
      const query = Object.entries(json).flatMap(([key, value]) =>
        [value].flat().map((one) => `${key}=${encodeURIComponent(String(one))}`),
      );
      const expected = toJson(input, fromJson(input, { shelf: "shelves/1", ...json } as JsonValue), {
        useProtoFieldName: true,
      });
      const result = await read("ListBooks", `${shelf}?${query.join("&")}`);
      return JSON.stringify(result.json) === JSON.stringify(expected);
    }),
  );
});

test("any query is read or refused as the caller's fault", async (t) => {
  const names = (listBooks?.fields ?? []).flatMap(({ name, jsonName }) => [name, jsonName]);
  const key = fc.oneof(
    fc.constantFrom(...names),
    fc
      .array(fc.constantFrom(...names, "inner", "author_name", ""), { maxLength: 4 })
      .map((parts) => parts.join(".")),
    fc.string(),
  );
  const value = fc.oneof(
    fc.constantFrom("", "1", "-1", "true", "1s", "GENRE_NOVEL", "2026-01-01T00:00:00Z"),
    fc.string(),
  );
  let readCount = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(key, value), { maxLength: 4 }),
      fc.boolean(),
      async (pairs, isStrict) => {
        const query = pairs.map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`);
        try {
          await read("ListBooks", `${shelf}?${query.join("&")}`, { isStrict });
          readCount += 1;
          return true;
        } catch (error) {
          const isKnown = error instanceof ConnectError || (error as { name?: string }).name === "InfraError";
          return isKnown && infraErrorFrom(error).code === "INVALID_ARGUMENT";
        }
      },
    ),
    { numRuns: 1000 },
  );
  t.ok(readCount > 20, `${readCount} were read`);
});
