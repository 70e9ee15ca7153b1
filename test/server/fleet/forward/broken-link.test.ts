import { once } from "node:events";
import * as http2 from "node:http2";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { type Test, test } from "tap";
import { VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { createHostsUnderTest, openLink } from "../../harness/hosts-under-test.ts";
import { eventStreamProtocols, streamProtocols } from "../../harness/protocols.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { logIn, startFleetUnderTest } from "./fleet-under-test.ts";

test("a stream of every protocol ends with a status when its host is lost", async (t) => {
  for (const protocol of [...streamProtocols, ...eventStreamProtocols]) {
    const { hub, authorization, link } = await startFleetUnderTest(t);
    const headers = { authorization, "hostplane-host": "node-1" };
    const client = createClient(VGService, protocol.createTransport(hub.url, { headers }));
    const messages = client.watch({})[Symbol.asyncIterator]();
    t.match(await messages.next(), { done: false }, protocol.name);
    link("node-1").cut();
    const error = await rpcErrorOf(readAll(messages));
    t.match(error, { code: "UNAVAILABLE", reason: "HOST_UNREACHABLE" }, protocol.name);
    t.match(
      await rpcErrorOf(readAll(client.watch({})[Symbol.asyncIterator]())),
      { code: "UNAVAILABLE", reason: "HOST_UNREACHABLE" },
      `${protocol.name}, of a host that is not connected`,
    );
    await hub.gateway.close();
  }
});

async function readAll(messages: AsyncIterator<unknown>): Promise<void> {
  while ((await messages.next()).done !== true) {}
}

const plain = { "content-type": "application/json" };
const grpc = { "content-type": "application/grpc+proto" };
const connectStream = { "content-type": "application/connect+json" };

/** An agent that sends what a test says, and a client of its hub. */
async function startHubOf(
  t: Test,
  answer: (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void,
) {
  const hosts = createHostsUnderTest();
  const server = http2.createServer();
  server.on("stream", (stream: http2.ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    answer(stream, headers);
  });
  const opened = await openLink(t, "node-1", (connection) => server.emit("connection", connection));
  hosts.set("node-1", opened.link);
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, fleetHosts: hosts });
  const session = http2.connect(url);
  t.teardown(() => session.destroy());
  const authorization = await logIn(url);

  function call(method: string, type: string, more: http2.OutgoingHttpHeaders = {}) {
    const stream = session.request({
      ":method": "POST",
      ":path": `/hosts/node-1/proto.${method}`,
      "content-type": type,
      authorization,
      ...more,
    });
    stream.on("error", () => {});
    return stream;
  }
  return { url, authorization, call, cut: opened.cut };
}

/** Reads an answer to its end, however it ends. */
async function answerOf(stream: http2.ClientHttp2Stream) {
  const chunks: Buffer[] = [];
  let headers: http2.IncomingHttpHeaders = {};
  let trailers: http2.IncomingHttpHeaders = {};
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.once("response", (received) => {
    headers = received;
  });
  stream.once("trailers", (received) => {
    trailers = received;
  });
  await new Promise((resolve) => stream.once("close", resolve));
  return { headers, trailers, body: Buffer.concat(chunks).toString("latin1"), rstCode: stream.rstCode };
}

test("a stream that breaks in the middle of a message is cut, in every form", async (t) => {
  const whole = encodeEnvelope(0, Buffer.from("{}"));
  const half = encodeEnvelope(0, Buffer.from("{}")).subarray(0, 6);
  const bodies: Record<string, readonly (Uint8Array | string)[]> = {
    "application/grpc+proto": [whole, half],
    "application/grpc-web+proto": [whole, half],
    "application/grpc-web-text+proto": [Buffer.from(whole).toString("base64"), "AAA"],
    "application/connect+json": [whole, half],
    "text/event-stream": ["data: {}\n\n", "data: {"],
  };
  for (const [type, [first = "", rest = ""]] of Object.entries(bodies)) {
    for (const isMidMessage of [false, true]) {
      let cut = () => {};
      const hub = await startHubOf(t, (stream) => {
        stream.respond({ ":status": 200, "content-type": type });
        stream.write(first);
        if (isMidMessage) {
          stream.write(rest);
        }
      });
      cut = hub.cut;
      const isEvents = type === "text/event-stream";
      const stream = isEvents
        ? hub.call("VGService/Watch", "application/json", { accept: type })
        : hub.call("VGService/Watch", type);
      stream.end();
      const sizeBytes = first.length + (isMidMessage ? rest.length : 0);
      let readBytes = 0;
      stream.on("data", (chunk: Buffer) => {
        readBytes += chunk.byteLength;
        if (readBytes === sizeBytes) {
          cut();
        }
      });
      const { trailers, body, rstCode } = await answerOf(stream);
      const name = `${type}, ${isMidMessage ? "in a message" : "after a message"}`;
      if (isMidMessage) {
        t.equal(rstCode, http2.constants.NGHTTP2_INTERNAL_ERROR, name);
        t.notMatch(body + JSON.stringify(trailers), /HOST_UNREACHABLE/i, name);
      } else {
        t.equal(rstCode, http2.constants.NGHTTP2_NO_ERROR, name);
        const text = type.includes("text+")
          ? Buffer.from(body.slice(Buffer.from(first).byteLength), "base64")
          : body;
        t.match(`${text}${JSON.stringify(trailers)}`, /unavailable|grpc-status":"14"|grpc-status: 14/, name);
      }
    }
  }
});

test("a unary call whose host is lost ends with an error that says whether something may have changed", async (t) => {
  const seen: string[] = [];
  let cut = () => {};
  const hub = await startHubOf(t, (stream, headers) => {
    seen.push(String(headers[":path"]));
    stream.resume();
    stream.once("end", () => cut());
  });
  cut = hub.cut;
  const stream = hub.call("LVService/CreateLV", "application/json");
  stream.end('{"name":"a","sizeGb":"1"}');
  const { headers, body } = await answerOf(stream);
  t.equal(headers[":status"], 503);
  t.match(JSON.parse(body), {
    code: "unavailable",
    details: [
      { debug: { reason: "HOST_UNREACHABLE", metadata: { effect: "possible", retryable: "false" } } },
    ],
  });
  t.same(seen, ["/proto.LVService/CreateLV"]);
});

test("a call that a host has refused before it began has changed nothing", async (t) => {
  const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_REFUSED_STREAM } = http2.constants;
  for (const code of [NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_REFUSED_STREAM]) {
    const hub = await startHubOf(t, (stream) => stream.close(code));
    const stream = hub.call("LVService/CreateLV", "application/json");
    stream.end('{"name":"a","sizeGb":"1"}');
    const { headers, body } = await answerOf(stream);
    t.equal(headers[":status"], 503);
    t.match(JSON.parse(body), {
      message: /takes no further calls/,
      details: [{ debug: { reason: "HOST_UNREACHABLE", metadata: { effect: "none", retryable: "true" } } }],
    });
  }
});

test("a unary answer that breaks off is never whole for its client", async (t) => {
  for (const [type, size] of [
    ["application/json", { "content-length": 20 }],
    ["application/json", {}],
  ] as const) {
    let cut = () => {};
    const hub = await startHubOf(t, (stream) => {
      stream.respond({ ":status": 200, "content-type": type, ...size });
      stream.write('{"a":');
    });
    cut = hub.cut;
    const stream = hub.call("VGService/GetFreeBytes", "application/json");
    stream.end("{}");
    stream.once("data", () => cut());
    t.equal((await answerOf(stream)).rstCode, http2.constants.NGHTTP2_INTERNAL_ERROR);
    const other = await startHubOf(t, (stream) => {
      stream.respond({ ":status": 200, "content-type": type, ...size });
      stream.write('{"a":');
    });
    const response = await fetch(`${other.url}/hosts/node-1/proto.VGService/GetFreeBytes`, {
      method: "POST",
      headers: { ...plain, authorization: other.authorization },
      body: "{}",
    });
    other.cut();
    await t.rejects(response.text(), "over HTTP/1.1 as well");
  }
});

test("an answer that is not one of the protocol does not pass", async (t) => {
  const page = { ":status": 200, "content-type": "text/html", "set-cookie": "a=b" };
  const answers: Record<string, [http2.OutgoingHttpHeaders, string]> = {
    page: [page, "<script>"],
    redirect: [{ ":status": 302, location: "https://evil.example" }, ""],
    "redirect with JSON": [{ ":status": 302, ...plain, location: "https://evil.example" }, "{}"],
    script: [{ ":status": 200, "content-type": "application/javascript" }, "x"],
    "no content type": [{ ":status": 200 }, "x"],
    "gRPC for Connect": [{ ":status": 200, ...grpc }, ""],
    "a parameter": [{ ":status": 200, "content-type": "application/json; x=text/html" }, "{}"],
  };
  for (const [name, [headers, body]] of Object.entries(answers)) {
    const hub = await startHubOf(t, (stream) => {
      stream.respond(headers);
      stream.end(body);
    });
    const stream = hub.call("VGService/GetFreeBytes", "application/json");
    stream.end("{}");
    const answer = await answerOf(stream);
    t.match(JSON.parse(answer.body), { details: [{ debug: { reason: "BAD_HOST_ANSWER" } }] }, name);
    t.notMatch(answer.headers, { "set-cookie": /./ }, name);
    t.notMatch(answer.headers, { location: /./ }, name);
  }
});

test("of an answer only the listed headers pass, and the hub adds its own", async (t) => {
  const hub = await startHubOf(t, (stream) => {
    stream.respond({
      ":status": 200,
      ...plain,
      "set-cookie": "hostplane-session=forged",
      location: "https://evil.example",
      "access-control-allow-origin": "*",
      "content-security-policy": "none",
      "x-content-type-options": "off",
      "hostplane-host": "other",
      "hostplane-request-id": "forged",
      "hostplane-resource": "volumeGroups/vg0",
      "hostplane-outcome": "OK",
      "hostplane-operation": "1234",
      etag: '"1"',
      "retry-after": "1",
      "content-length": 2,
    });
    stream.end("{}");
  });
  const stream = hub.call("VGService/GetFreeBytes", "application/json");
  stream.end("{}");
  const { headers, body } = await answerOf(stream);
  t.equal(body, "{}");
  t.match(headers, {
    "hostplane-host": "node-1",
    "hostplane-operation": "1234",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    etag: '"1"',
    "retry-after": "1",
    "content-length": "2",
  });
  t.match(String(headers["hostplane-request-id"]), /^[0-9a-f-]{36}$/);
  for (const name of [
    "set-cookie",
    "location",
    "access-control-allow-origin",
    "content-security-policy",
    "hostplane-resource",
    "hostplane-outcome",
  ]) {
    t.equal(headers[name], undefined, name);
  }
});

test("headers that a client forges do not reach a host, which gets the caller that the hub knows", async (t) => {
  const received: http2.IncomingHttpHeaders[] = [];
  const hub = await startHubOf(t, (stream, headers) => {
    received.push(headers);
    stream.respond({ ":status": 200, ...plain, "content-length": 2 });
    stream.end("{}");
  });
  const forged = Buffer.from(JSON.stringify({ actor: "user/root", role: "admin" })).toString("base64url");
  const refused = hub.call("VGService/GetFreeBytes", "application/json", {
    "hostplane-fleet-caller": forged,
  });
  refused.end("{}");
  t.match((await answerOf(refused)).body, /UNKNOWN_HEADER|hostplane-fleet-caller/);
  t.same(received, [], "an unknown hostplane header is refused by the hub");
  const stream = hub.call("VGService/GetFreeBytes", "application/json", {
    cookie: "a=b",
    "x-forwarded-for": "192.0.2.1",
    forwarded: "for=192.0.2.1",
    "proxy-authorization": "Basic x",
    "x-other": "1",
    "connect-timeout-ms": "5000",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "accept-encoding": "gzip",
  });
  stream.end("{}");
  await answerOf(stream);
  const [{ "hostplane-fleet-caller": caller, "connect-timeout-ms": timeoutMs, ...headers } = {}] = received;
  t.same(Object.keys(headers).toSorted(), [
    ":authority",
    ":method",
    ":path",
    ":scheme",
    "accept-encoding",
    "content-type",
    "traceparent",
  ]);
  t.match(headers, { ":authority": "node-1", ":path": "/proto.VGService/GetFreeBytes" });
  t.ok(Number(timeoutMs) > 0 && Number(timeoutMs) <= 5000, `the deadline is ${timeoutMs} ms`);
  t.match(JSON.parse(Buffer.from(String(caller), "base64url").toString()), {
    actor: "user/admin",
    role: "admin",
    address: "127.0.0.1",
    accountId: /./,
    requestId: /./,
  });
});

test("a client that leaves, and a deadline, reset the stream at the host", async (t) => {
  const reset: Promise<unknown>[] = [];
  const hub = await startHubOf(t, (stream) => {
    reset.push(once(stream, "close").then(() => stream.rstCode));
    stream.respond({ ":status": 200, ...connectStream });
    stream.write(encodeEnvelope(0, Buffer.from("{}")));
  });
  const leaving = hub.call("VGService/Watch", "application/connect+json");
  leaving.end();
  await once(leaving, "data");
  leaving.close(http2.constants.NGHTTP2_CANCEL);
  t.equal(await reset[0], http2.constants.NGHTTP2_CANCEL);
  const limited = hub.call("VGService/Watch", "application/connect+json", { "connect-timeout-ms": "300" });
  limited.end();
  const { body } = await answerOf(limited);
  t.match(body, /deadline_exceeded/);
  t.equal(await reset[1], http2.constants.NGHTTP2_CANCEL);
});

test("a slow client slows its host down, and other calls of the host go on", async (t) => {
  const message = encodeEnvelope(0, Buffer.alloc(16 * 1024, 32));
  let sentBytes = 0;
  let isQuiet = Promise.resolve();
  const hub = await startHubOf(t, (stream, headers) => {
    if (headers[":path"] !== "/proto.VGService/Watch") {
      stream.respond({ ":status": 200, ...plain, "content-length": 2 });
      stream.end("{}");
      return;
    }
    stream.respond({ ":status": 200, ...grpc });
    const write = () => {
      while (sentBytes < 64 * 1024 * 1024) {
        sentBytes += message.byteLength;
        if (!stream.write(message)) {
          stream.once("drain", write);
          return;
        }
      }
      stream.end();
    };
    write();
  });
  const slow = hub.call("VGService/Watch", "application/grpc+proto", { te: "trailers" });
  slow.end();
  await once(slow, "response");
  slow.pause();
  isQuiet = (async () => {
    for (let before = -1; before !== sentBytes; ) {
      before = sentBytes;
      for (let count = 0; count < 20; count++) {
        const other = hub.call("VGService/GetFreeBytes", "application/json");
        other.end("{}");
        t.equal((await answerOf(other)).body, "{}");
      }
    }
  })();
  await isQuiet;
  t.ok(sentBytes < 2 * 1024 * 1024, `the host has sent ${sentBytes} bytes`);
  slow.close();
});
