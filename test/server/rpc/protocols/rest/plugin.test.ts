import { once } from "node:events";
import { type IncomingMessage, request as startRequest } from "node:http";
import { text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { lvmReasons } from "../../../../../adapters/lvm/reasons.ts";
import type { Call } from "../../../../../server/rpc/call/call.ts";
import type { AnyHandler } from "../../../../../server/rpc/call/service-handlers.ts";
import { reasonNamed } from "../../../../reason-named.ts";
import {
  type RawAnswer,
  type RawRequest,
  requestHttp1,
  requestHttp2,
  requestOver,
} from "../../../harness/raw-request.ts";
import { createLibraryOf } from "./library.ts";
import { startRestUnderTest } from "./rest-under-test.ts";

const httpVersions = ["1.1", "2"] as const;
const bookPath = "/v1/shelves/1/books/2";

/** Answers with its request. */
const echo: AnyHandler = async (input) => ({ ...(input as object), $typeName: undefined });

function jsonOf({ body }: RawAnswer): unknown {
  return JSON.parse(body.toString());
}

/** Returns the parts of an error response. */
function errorOf(answer: RawAnswer) {
  const { error, message, code, details } = jsonOf(answer) as Record<string, unknown>;
  return { status: answer.status, type: answer.headers["content-type"], error, message, code, details };
}

function get(path: string, headers: Readonly<Record<string, string>> = {}): RawRequest {
  return { method: "GET", path, headers };
}

test("a request is routed over both versions of HTTP", async (t) => {
  const { url, log } = await startRestUnderTest(t, { GetBook: echo, ReplaceBook: echo, LendBook: echo });
  for (const version of httpVersions) {
    const request = requestOver[version];
    const found = await request(url, get(bookPath));
    t.match(found, {
      status: 200,
      headers: { "content-type": "application/json", "hostplane-request-id": /./ },
    });
    t.same(jsonOf(found), { name: "shelves/1/books/2" });
    t.same(jsonOf(await request(url, get("/v1/books/a%2Fb"))), { name: "a/b" });
    const body = '{"pageCount": 7, "genre": 2, "author_name": ""}';
    const replaced = await request(url, { method: "PUT", path: bookPath, body });
    t.same(jsonOf(replaced), { name: "shelves/1/books/2", genre: "GENRE_ATLAS", page_count: "7" });
    t.same(jsonOf(await request(url, { path: `${bookPath}:lend` })), { name: "shelves/1/books/2" });
    const head = await request(url, { method: "HEAD", path: bookPath });
    t.match(head, { status: 200, headers: { "content-length": found.headers["content-length"] } });
    t.equal(head.body.byteLength, 0);
  }
  t.match(log[0], { rpc: "library.v1.Library/GetBook", protocol: "rest", code: "OK" });
  t.same(
    log.filter(({ level }) => Number(level) >= 40),
    [],
  );
});

test("a path or verb without a route gets plain text", async (t) => {
  const { url } = await startRestUnderTest(t, { GetBook: echo });
  for (const version of httpVersions) {
    const request = requestOver[version];
    for (const path of [
      "/v1",
      "/v1/",
      "/v1/none",
      "/v1/none/x?name=y",
      `${bookPath}/`,
      `/v1/${"x".repeat(3000)}`,
    ]) {
      const answer = await request(url, get(path));
      t.match(answer, { status: 404, headers: { "content-type": /^text\/plain/ } }, path);
      t.equal(answer.body.toString(), "not found\n");
    }
    const post = await request(url, { method: "POST", path: bookPath });
    t.match(post, {
      status: 405,
      headers: { allow: "DELETE, GET, PATCH, PUT", "content-type": /^text\/plain/ },
    });
    t.match(await request(url, { method: "HEAD", path: "/v1/books:watch" }), { status: 405 });
  }
});

test("a custom route takes any verb, but GET only if it changes nothing", async (t) => {
  const { url } = await startRestUnderTest(t, { Purge: echo });
  const purge = (method: string) => requestHttp1(url, { method, path: "/v1/purge?name=x" });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    t.same(jsonOf(await purge(method)), { name: "x" }, method);
  }
  for (const method of ["GET", "HEAD"]) {
    t.match(await purge(method), { status: 405, headers: { allow: /^DELETE, PATCH, POST, PUT/ } });
  }
});

test("an answer without a JSON form is a fault of the gateway, and is logged", async (t) => {
  const wrong = { authorName: 7 };
  async function* watch() {
    yield {};
    yield wrong;
  }
  const { url, log } = await startRestUnderTest(t, { GetBook: async () => wrong, WatchBooks: watch });
  const answer = await requestHttp1(url, get(bookPath));
  t.match(errorOf(answer), { status: 500, code: 13, message: /^internal error; / });
  const requestId = answer.headers["hostplane-request-id"];
  t.match(
    log.find(({ level }) => Number(level) >= 40),
    { msg: "an answer could not be written", requestId, err: { message: /author_name/ } },
  );
  await t.rejects(requestHttp1(url, get("/v1/books:watch")));
});

test("a client of another protocol gets its own form of errors", async (t) => {
  const { url } = await startRestUnderTest(t, {});
  const headers = { "content-type": "application/grpc", te: "trailers" };
  t.match(await requestHttp2(url, { path: "/v1/Method", headers }), { headers: { "grpc-status": "12" } });
});

test("one field of an answer can be returned instead of the whole", async (t) => {
  let answer = {};
  const read: AnyHandler = async () => answer;
  const { url } = await startRestUnderTest(t, { ReadFile: read, ReadSizes: read, ReadCover: read });
  const reported = async () =>
    Promise.all(
      ["/v1/files/a/b", "/v1/sizes", "/v1/cover"].map(async (path) =>
        jsonOf(await requestHttp1(url, get(path))),
      ),
    );
  t.same(await reported(), ["", [], null]);
  answer = { text: "x", sizes: [1n, 2n], book: { authorName: "Ann" } };
  t.same(await reported(), ["x", ["1", "2"], { author_name: "Ann" }]);
});

test("every code has the HTTP status that grpc-gateway gives it", async (t) => {
  let reason = "INTERNAL";
  const { url } = await startRestUnderTest(t, {
    GetBook: () =>
      Promise.reject(
        new InfraError(reasonNamed(reason), "the words", { resource: "books/2", retryAfterMs: 1500 }),
      ),
  });
  const rows = [
    ["CALLER_LEFT", 408, 1],
    ["INVALID_FIELD", 400, 3],
    ["DEADLINE", 504, 4],
    ["VOLUME_NOT_FOUND", 404, 5],
    ["VOLUME_EXISTS", 409, 6],
    ["ROLE_REQUIRED", 403, 7],
    ["CALLER_LIMIT", 429, 8],
    ["VOLUME_IN_USE", 412, 9],
    ["IDEMPOTENCY_OUTCOME_UNKNOWN", 409, 10],
    ["SHRINK_NOT_ALLOWED", 400, 11],
    ["NOT_BUILT", 501, 12],
    ["INTERNAL", 500, 13],
    ["SHUTTING_DOWN", 503, 14],
    ["LOGIN_REQUIRED", 401, 16],
  ] as const;
  for (const [name, status, code] of rows) {
    reason = name;
    const answer = await requestHttp1(url, get(bookPath));
    const { details, ...rest } = errorOf(answer);
    t.same(rest, { status, type: "application/json", error: "the words", message: "the words", code }, name);
    t.match(details, [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: name,
        domain: "hostplane",
        metadata: { resource: "books/2" },
      },
    ]);
    const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retry_delay: "1.500s" };
    t.match((details as readonly unknown[]).at(-1), retry);
    t.equal(answer.headers["retry-after"], "2");
    t.equal(answer.headers["www-authenticate"], status === 401 ? "Bearer" : undefined);
  }
});

test("errors in a request are reported inside its call", async (t) => {
  const { url, log } = await startRestUnderTest(t, { ReplaceBook: echo, ListBooks: echo, DeleteBook: echo });
  const wrong = await requestHttp1(url, { method: "PUT", path: bookPath, body: '{"pages": 1}' });
  t.match(errorOf(wrong), {
    status: 400,
    code: 3,
    details: [{ reason: "UNKNOWN_FIELD" }, { field_violations: [{ field: "pages" }] }],
  });
  t.match(log.at(-1), {
    rpc: "library.v1.Library/ReplaceBook",
    code: "INVALID_ARGUMENT",
    reason: "UNKNOWN_FIELD",
  });
  const typo = await requestHttp1(url, { method: "DELETE", path: `${bookPath}?forse=true` });
  t.match(errorOf(typo), { status: 400, details: [{ reason: "UNKNOWN_FIELD" }] });
});

test("a read ignores unknown names, and lists them", async (t) => {
  const { url } = await startRestUnderTest(t, { ListBooks: async () => ({}), GetBook: async () => ({}) });
  const answer = await requestHttp1(url, get("/v1/shelves/1/books?page_sise=1&genre=GENRE_POEM&%C3%A9=2"));
  t.match(answer, { status: 200, headers: { "hostplane-unknown-fields": "page_sise, %C3%A9, genre" } });
  const plain = await requestHttp1(url, get("/v1/shelves/1/books?page_size=1"));
  t.equal(plain.headers["hostplane-unknown-fields"], undefined);
});

test("bodies and answers are limited, and the limit is named", async (t) => {
  const large = async () => ({ authorName: "x".repeat(3000) });
  const { url } = await startRestUnderTest(
    t,
    { ReplaceBook: echo, GetBook: large },
    { maxMessageBytes: 2000 },
  );
  const tooLarge = {
    status: 429,
    code: 8,
    details: [{ reason: "MESSAGE_TOO_LARGE" }],
    message: /limit of 2000 bytes \(limits.maxMessageBytes\)/,
  };
  const body = JSON.stringify({ author_name: "x".repeat(3000) });
  for (const version of httpVersions) {
    const put = { method: "PUT", path: bookPath };
    t.match(errorOf(await requestOver[version](url, { ...put, body })), tooLarge);
    const headers = { "content-encoding": "gzip" };
    t.match(errorOf(await requestOver[version](url, { ...put, headers, body: gzipSync(body) })), tooLarge);
    t.match(errorOf(await requestOver[version](url, get(bookPath))), tooLarge);
  }
});

test("bodies and answers may be compressed", async (t) => {
  const { url } = await startRestUnderTest(t, { ReplaceBook: echo });
  const put = (headers: Readonly<Record<string, string>>, body: Uint8Array) =>
    requestHttp1(url, { method: "PUT", path: bookPath, headers, body });
  const body = gzipSync(JSON.stringify({ author_name: "x".repeat(3000) }));
  const answer = await put({ "content-encoding": "gzip", "accept-encoding": "gzip" }, body);
  t.match(answer, { status: 200, headers: { "content-encoding": "gzip" } });
  t.match(JSON.parse(gunzipSync(answer.body).toString()), { author_name: /^x{3000}$/ });
  const unknown = await put({ "content-encoding": "zstd" }, body);
  t.match(errorOf(unknown), { status: 501, details: [{ reason: "UNSUPPORTED_COMPRESSION" }] });
  t.match(errorOf(await put({ "content-encoding": "gzip" }, Buffer.from("x"))), { status: 400 });
});

/** Returns a handler that waits for the end of its call, and records its error. */
function untilEnded(): {
  readonly handler: AnyHandler;
  readonly started: Promise<Call>;
  readonly ended: Promise<unknown>;
} {
  const started = Promise.withResolvers<Call>();
  const ended = Promise.withResolvers<unknown>();
  return {
    started: started.promise,
    ended: ended.promise,
    handler: (_input, call) => {
      call.signal.addEventListener("abort", () => ended.resolve(call.signal.reason), { once: true });
      started.resolve(call);
      return new Promise(() => {});
    },
  };
}

test("a deadline ends the call, by either header", async (t) => {
  for (const headers of [{ "grpc-timeout": "50m" }, { "connect-timeout-ms": "50" }]) {
    const { handler } = untilEnded();
    const { url } = await startRestUnderTest(t, { GetBook: handler });
    t.match(errorOf(await requestHttp1(url, get(bookPath, headers as Record<string, string>))), {
      status: 504,
      code: 4,
      details: [{ reason: "DEADLINE" }],
    });
  }
  const { url } = await startRestUnderTest(t, { GetBook: untilEnded().handler }, { maxDeadlineMs: 50 });
  t.match(errorOf(await requestHttp1(url, get(bookPath))), { status: 504 });
  t.match(errorOf(await requestHttp1(url, get(bookPath, { "grpc-timeout": "soon" }))), {
    status: 400,
    code: 3,
  });
  t.match(errorOf(await requestHttp1(url, get(bookPath, { "grpc-timeout": "99999999H" }))), { status: 504 });
});

test("a client that leaves ends its call", async (t) => {
  const { handler, started, ended } = untilEnded();
  const { url, log } = await startRestUnderTest(t, { GetBook: handler });
  const leaving = startRequest(`${url}${bookPath}`)
    .on("error", () => {})
    .end();
  await started;
  leaving.destroy();
  t.match(await ended, { reason: "CALLER_LEFT" });
  await untilLogged(log, "CALLER_LEFT");
});

test("a client that leaves in the middle of its body is not a fault of the gateway", async (t) => {
  const { url, log } = await startRestUnderTest(t, { ReplaceBook: echo });
  const leaving = startRequest(`${url}${bookPath}`, { method: "PUT", headers: { "content-length": "100" } });
  leaving.on("error", () => {});
  await new Promise<void>((resolve) => {
    leaving.write('{"name":', () => resolve());
  });
  leaving.destroy();
  await untilLogged(log, "CALLER_LEFT");
  t.same(
    log.filter(({ level }) => Number(level) >= 40),
    [],
  );
});

/** Waits for a line of the log with that reason. */
async function untilLogged(log: readonly Record<string, unknown>[], reason: string): Promise<void> {
  while (!log.some((line) => line.reason === reason)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function linesOf({ body }: RawAnswer): unknown[] {
  return body
    .toString()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test("a stream is one JSON text per line", async (t) => {
  async function* watch(input: unknown) {
    yield { authorName: "Ann", genre: (input as { genre: number }).genre };
    yield { name: "b" };
  }
  const { url } = await startRestUnderTest(t, { WatchBooks: watch });
  for (const version of httpVersions) {
    const answer = await requestOver[version](url, get("/v1/books:watch?genre=1&typo=x"));
    t.match(answer, {
      status: 200,
      headers: { "content-type": "application/x-ndjson", "hostplane-unknown-fields": "typo" },
    });
    t.same(linesOf(answer), [
      { result: { author_name: "Ann", genre: "GENRE_NOVEL" } },
      { result: { name: "b" } },
    ]);
  }
});

test("an error of a stream is its last line, or the answer if there was no line before", async (t) => {
  let count = 1;
  async function* watch() {
    for (let index = 0; index < count; index++) {
      yield { name: "a" };
    }
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, "no such book");
  }
  const { url } = await startRestUnderTest(t, { WatchBooks: watch });
  const answer = await requestHttp1(url, get("/v1/books:watch"));
  t.equal(answer.status, 200);
  t.match(linesOf(answer), [
    { result: { name: "a" } },
    {
      error: {
        grpc_code: 5,
        http_code: 404,
        http_status: "Not Found",
        message: "no such book",
        details: [{ reason: "VOLUME_NOT_FOUND" }],
      },
    },
  ]);
  count = 0;
  t.match(errorOf(await requestHttp1(url, get("/v1/books:watch"))), { status: 404, code: 5 });
});

async function startWatch(t: Test) {
  const ended = Promise.withResolvers<unknown>();
  async function* watch(_input: unknown, call: Call) {
    call.signal.addEventListener("abort", () => ended.resolve(call.signal.reason), { once: true });
    yield { name: "a" };
    await new Promise(() => {});
  }
  const underTest = await startRestUnderTest(t, { WatchBooks: watch });
  const watching = startRequest(`${underTest.url}/v1/books:watch`)
    .on("error", () => {})
    .end();
  const [response] = (await once(watching, "response")) as [IncomingMessage];
  const [first] = await once(response, "data");
  t.equal(String(first), '{"result":{"name":"a"}}\n');
  return { ...underTest, watching, response, ended: ended.promise };
}

test("a stream ends when its client leaves", async (t) => {
  const { watching, ended } = await startWatch(t);
  watching.destroy();
  t.match(await ended, { reason: "CALLER_LEFT" });
});

test("a stream ends when the gateway stops, with the error in its last line", async (t) => {
  const { stop, response, ended } = await startWatch(t);
  stop();
  const rest = JSON.parse(await text(response));
  t.match(rest, { error: { grpc_code: 14, http_code: 503, details: [{ reason: "SHUTTING_DOWN" }] } });
  t.match(await ended, { reason: "SHUTTING_DOWN" });
});

test("a handler that opens a sink is refused over REST", async (t) => {
  async function* watch(_input: unknown, call: Call) {
    yield { name: "a" };
    call.openSink();
  }
  const { url } = await startRestUnderTest(t, { WatchBooks: watch });
  const answer = await requestHttp1(url, get("/v1/books:watch"));
  t.match(linesOf(answer).at(-1), { error: { http_code: 501, details: [{ reason: "NOT_BUILT" }] } });
});

test("GET must not change anything, and verbs must exist", async (t) => {
  const start = (rule: Parameters<typeof createLibraryOf>[0], more = {}) =>
    startRestUnderTest(t, {}, { service: createLibraryOf(rule, more) });
  await t.rejects(start({ get: "/v1/x" }, { options: { "[google.api.http]": { get: "/v1/x" } } }), {
    message: /changes something, so it cannot be called by GET/,
  });
  await t.rejects(start({ custom: { kind: "FETCH", path: "/v1/x" } }), {
    message: /unknown HTTP method FETCH/,
  });
});
