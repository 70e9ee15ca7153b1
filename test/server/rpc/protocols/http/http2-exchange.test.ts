import { once } from "node:events";
import * as http2 from "node:http2";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { type Test, test } from "tap";
import { createListener } from "../../../../../server/rpc/listener/listener.ts";
import type { Http2Exchange } from "../../../../../server/rpc/protocols/http/http2-exchange.ts";
import { readBody } from "../../../../../server/rpc/protocols/http/read-body.ts";

/** Starts a listener that passes streams to `onStream`, and answers `by the compatibility API` to every other request. */
async function connectTo(t: Test, onStream: (exchange: Http2Exchange) => boolean, headerBytes = 16_384) {
  const listener = createListener({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    mode: 0o600,
    tls: undefined,
    maxConcurrentStreams: 100,
    headerBytes,
    keepAliveMs: 15_000,
    onRequest: (_request, response) => response.end("by the compatibility API"),
    onStream,
  });
  await listener.listen();
  const session = http2.connect(`http://${listener.address()}`);
  t.teardown(async () => {
    session.destroy();
    await listener.close(0);
  });
  return session;
}

const post = { ":method": "POST", ":path": "/a" };

test("a stream is a request and its response in one", async (t) => {
  const session = await connectTo(t, (exchange) => {
    t.match(exchange, { method: "POST", url: "/a", httpVersion: "2.0", complete: false, headersSent: false });
    t.equal(exchange.socket.remoteAddress, "127.0.0.1");
    const answer = async () => {
      const body = await readBody(exchange, 100, "plain");
      t.ok(exchange.complete);
      exchange.addTrailers({ "x-trailer": "last" });
      exchange.writeHead(201, { "x-header": "first" });
      t.ok(exchange.headersSent);
      exchange.write(body);
      exchange.end(Buffer.from(" and back"));
    };
    answer().catch(t.threw);
    return true;
  });
  const stream = session.request(post);
  const [head, trailers] = [once(stream, "response"), once(stream, "trailers")];
  stream.end("there");
  t.equal(await text(stream), "there and back");
  t.match((await head)[0], { ":status": 201, "x-header": "first" });
  t.match((await trailers)[0], { "x-trailer": "last" });
});

test("an answer that only has a head ends the stream with it, as grpc-go requires for a refusal", async (t) => {
  const session = await connectTo(t, (exchange) => {
    exchange.statusCode = 418;
    exchange.setHeader("x-why", "a head alone");
    exchange.end();
    return true;
  });
  const stream = session.request(post, { endStream: true });
  const [head, flags] = await once(stream, "response");
  t.match(head, { ":status": 418, "x-why": "a head alone" });
  t.ok(Number(flags) & http2.constants.NGHTTP2_FLAG_END_STREAM);
});

test("an empty body is read, however late a listener is added", async (t) => {
  const session = await connectTo(t, (exchange) => {
    const answer = async () => {
      for (let turns = 0; turns < 20; turns += 1) {
        await turn();
      }
      const body = await readBody(exchange, 100, "enveloped");
      exchange.end(Buffer.from(`${body.byteLength} bytes`));
    };
    answer().catch(t.threw);
    return true;
  });
  const withHead = session.request(post, { endStream: true });
  t.equal(await text(withHead), "0 bytes");
  const byItself = session.request(post);
  byItself.end();
  t.equal(await text(byItself), "0 bytes");
});

test("refused and unusual streams go to the compatibility API", async (t) => {
  const seen: string[] = [];
  const session = await connectTo(t, ({ url }) => {
    seen.push(url);
    return false;
  });
  for (const headers of [
    post,
    { ":method": "GET", ":path": "/b" },
    { ...post, expect: "100-continue" },
    { ":method": "PUT", ":path": "/c" },
  ]) {
    const stream = session.request(headers);
    stream.end();
    t.equal(await text(stream), "by the compatibility API");
  }
  t.strictSame(seen, ["/a"]);
});

test("a stream with headers over the limit is refused before it is passed on", async (t) => {
  const session = await connectTo(t, () => t.fail("it was admitted"), 1_000);
  // Sent before the client learns of the limit: afterwards its library would refuse to send it.
  const stream = session.request({ ...post, "x-long": "x".repeat(2_000) }, { endStream: true });
  const [head] = await once(stream, "response");
  t.equal(head[":status"], 431);
});

test("a client that resets its stream, with any code, does no harm", async (t) => {
  let arrived: (isClosed: Promise<void>) => void = () => t.fail("no callback waits for a stream");
  const session = await connectTo(t, (exchange) => {
    arrived(new Promise<void>((resolve) => exchange.once("close", resolve)));
    return true;
  });
  const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_PROTOCOL_ERROR } = http2.constants;
  for (const code of [NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_PROTOCOL_ERROR]) {
    const stream = session.request(post);
    stream.on("error", () => {});
    stream.write("a part");
    // Wrapped in an object, because a nested promise would be awaited.
    const { closed } = await new Promise<{ readonly closed: Promise<void> }>((resolve) => {
      arrived = (closed) => resolve({ closed });
    });
    stream.close(code);
    await closed;
    t.pass(`the stream is closed by ${code}`);
  }
});
