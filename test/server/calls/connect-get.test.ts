import { request } from "node:http";
import { connect } from "node:http2";
import { test } from "tap";
import { createSharedGateway } from "../harness/gateway-under-test.ts";

const sharedGateway = createSharedGateway();

const path = "/proto.VGService/GetLVList?connect=v1&encoding=json&message=%7B%7D";

/** Returns an answer with its body as it was sent. */
function query(url: string, method: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; etag: string; length: number; vary: string }>(
    (resolve, reject) => {
      const sent = request(url, { method, headers }, async (answer) => {
        let length = 0;
        for await (const chunk of answer) {
          length += (chunk as Buffer).byteLength;
        }
        const { etag = "", vary = "" } = answer.headers;
        resolve({ status: answer.statusCode, etag, length, vary });
      });
      sent.on("error", reject);
      sent.end();
    },
  );
}

test("an answer to a GET is sent again only if it has changed", async (t) => {
  const { url } = await sharedGateway();
  const list = url + path;
  const first = await query(list, "GET");
  t.match(first, { status: 200, etag: /^"[\w-]{43}"$/, vary: /accept-encoding/ });
  t.ok(first.length > 0);
  const again = { "if-none-match": `"other", W/${first.etag}` };
  t.match(await query(list, "GET", again), { status: 304, etag: first.etag, length: 0 });
  t.match(await query(list, "GET", { "if-none-match": '"other"' }), { status: 200, length: first.length });
  t.match(await query(list, "HEAD"), { status: 200, etag: first.etag, length: 0 });

  const create = await fetch(`${url}/proto.LVService/CreateLV`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "tagged", sizeGb: 1 }),
  });
  t.equal(create.status, 200);
  const changed = await query(list, "GET", again);
  t.equal(changed.status, 200);
  t.not(changed.etag, first.etag);
});

test("it is the same over HTTP/2", async (t) => {
  const { url } = await sharedGateway();
  const session = connect(url);
  t.teardown(() => session.destroy());
  const queryOverHttp2 = async (headers: Record<string, string>) => {
    const stream = session.request({ ":path": path, ...headers });
    let [status, etag, length] = [0, "", 0];
    stream.once("response", (answer) => {
      [status, etag] = [answer[":status"] ?? 0, String(answer.etag ?? "")];
    });
    for await (const chunk of stream) {
      length += (chunk as Buffer).byteLength;
    }
    return { status, etag, length };
  };
  const { etag, length } = await queryOverHttp2({ ":method": "GET" });
  t.ok(length > 0);
  t.same(await queryOverHttp2({ ":method": "GET", "if-none-match": etag }), { status: 304, etag, length: 0 });
  t.same(await queryOverHttp2({ ":method": "HEAD" }), { status: 200, etag, length: 0 });
});

test("each form of an answer has its own tag; answers to POST and errors have none", async (t) => {
  const { url } = await sharedGateway();
  for (let index = 0; index < 8; index += 1) {
    const created = await fetch(`${url}/proto.LVService/CreateLV`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: `tagged-${index}-${"x".repeat(100)}`, sizeGb: 1 }),
    });
    t.equal(created.status, 200);
  }
  const list = url + path;
  const [plain, gzip, binary] = await Promise.all([
    query(list, "GET"),
    query(list, "GET", { "accept-encoding": "gzip" }),
    query(list.replace("encoding=json", "encoding=proto").replace("%7B%7D", ""), "GET"),
  ]);
  t.ok(gzip.length < plain.length, "it is compressed");
  t.equal(new Set([plain.etag, gzip.etag, binary.etag]).size, 3);
  const known = { "accept-encoding": "gzip", "if-none-match": plain.etag };
  t.match(await query(list, "GET", known), { status: 200, etag: gzip.etag }, "the client has another form");
  t.match(await query(list.replace("%7B%7D", "%7B"), "GET"), { status: 400, etag: "" });
  const post = await fetch(`${url}/proto.VGService/GetLVList`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  t.equal(post.headers.get("etag"), null);
});
