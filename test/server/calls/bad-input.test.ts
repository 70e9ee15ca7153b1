import * as net from "node:net";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { CreateLVRequestSchema } from "../../../gen/proto/lvmd_pb.ts";
import {
  assertUnharmed,
  binary,
  type Carrier,
  createPath,
  json,
  malformed,
  readPath,
  refuses,
  send,
  watchPath,
} from "../harness/carriers.ts";
import { createSharedGateway, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { errorFromAnswer } from "../harness/raw-error.ts";
import { requestOver } from "../harness/raw-request.ts";

const sharedGateway = createSharedGateway();

test("bytes that cannot be parsed are INVALID_ARGUMENT in every protocol, never INTERNAL", async (t) => {
  const gateway = await sharedGateway();
  const cases = {
    "a length beyond the end": [0x0a, 0x09, 0x61],
    "a varint without end": [0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    "a group that never ends": [0x0b],
    "an end of no group": [0x0c],
    "field number 0": [0x00, 0x01],
    "wire type 7": [0x0f, 0x01],
    "text that is not UTF-8": [0x0a, 0x02, 0xff, 0xfe],
    "a wire type that is not the field's": [0x12, 0x01, 0x61],
  };
  for (const [what, bytes] of Object.entries(cases)) {
    await refuses(
      t,
      gateway.url,
      binary,
      what,
      { message: Uint8Array.from(bytes) },
      { code: "INVALID_ARGUMENT" },
    );
  }
  await assertUnharmed(t, gateway);
});

const enveloped = binary.filter(({ isEnveloped }) => isEnveloped);

/** Connect's form of a stream request, for the envelope cases. */
const connectStream: Carrier[] = (["1.1", "2"] as const).map((httpVersion) => ({
  name: `a Connect stream over HTTP/${httpVersion}`,
  httpVersion,
  type: "application/connect+proto",
  encodingHeader: "connect-content-encoding",
  isEnveloped: true,
}));

test("a truncated envelope is refused", async (t) => {
  const gateway = await sharedGateway();
  for (const bytes of [[0], [0, 0, 0, 0], [0, 0, 0, 0, 9, 1, 2]]) {
    const body = Uint8Array.from(bytes);
    await refuses(t, gateway.url, enveloped, `unary ${bytes}`, { body }, malformed);
    await refuses(t, gateway.url, connectStream, `stream ${bytes}`, { path: watchPath, body }, malformed);
  }
  const flags = encodeEnvelope(0x40, new Uint8Array(0));
  for (const carrier of enveloped) {
    t.ok(
      (await send(gateway.url, carrier, { path: readPath, body: flags })).status,
      "unknown flags cause no harm",
    );
  }
  await assertUnharmed(t, gateway);
});

test("a method with one request message refuses zero and two", async (t) => {
  const gateway = await sharedGateway();
  const cardinality = { code: "UNIMPLEMENTED", reason: "REQUEST_CARDINALITY" };
  const one = encodeEnvelope(0, new Uint8Array(0));
  for (const [what, body] of [
    ["none", new Uint8Array(0)],
    ["two", Buffer.concat([one, one])],
    ["one message and one more byte", Buffer.concat([one, Buffer.alloc(1)])],
  ] as const) {
    await refuses(t, gateway.url, enveloped, `${what}, unary`, { path: readPath, body }, cardinality);
    const streams = [...enveloped, ...connectStream];
    await refuses(t, gateway.url, streams, `${what}, stream`, { path: watchPath, body }, cardinality);
  }
  await assertUnharmed(t, gateway);
});

test("a message over the limit is refused and the limit named, compressed or not", async (t) => {
  const gateway = await startGatewayUnderTest(t, { limits: { maxMessageBytes: 65_536 } });
  const tooLarge = { code: "RESOURCE_EXHAUSTED", reason: "MESSAGE_TOO_LARGE", message: /65536/ };
  const request = create(CreateLVRequestSchema, { name: "a".repeat(100_000) });
  const large = { json: JSON.stringify(request.name), proto: toBinary(CreateLVRequestSchema, request) };
  await refuses(t, gateway.url, json, "plain", { message: `{"name":${large.json}}` }, tooLarge);
  await refuses(t, gateway.url, binary, "plain", { message: large.proto }, tooLarge);
  for (const carrier of binary) {
    const headers = { [carrier.encodingHeader]: "gzip" };
    const sent = { message: gzipSync(large.proto), compressed: true, headers };
    await refuses(t, gateway.url, [carrier], "compressed", sent, tooLarge);
    const bomb = { ...sent, message: gzipSync(Buffer.alloc(50 << 20)) };
    const before = process.memoryUsage().rss;
    await refuses(t, gateway.url, [carrier], "50 MB in 50 KB", bomb, tooLarge);
    t.ok(process.memoryUsage().rss - before < 30 << 20, "it is not decompressed first");
  }
  const promised = Uint8Array.from([0, 0xff, 0xff, 0xff, 0xff, 1]);
  await refuses(t, gateway.url, [...enveloped], "a promise of 4 GiB", { body: promised }, tooLarge);
  await assertUnharmed(t, gateway);
});

// Its own gateway, because the protocols prescribe INTERNAL, and the other tests expect none in the log.
test("an unknown, unnamed or wrong compression is refused", async (t) => {
  const gateway = await startGatewayUnderTest(t);
  for (const carrier of [...binary, ...json]) {
    const headers = { [carrier.encodingHeader]: "zstd" };
    const unknown = { code: "UNIMPLEMENTED", reason: "UNSUPPORTED_COMPRESSION", message: /gzip,br/ };
    await refuses(t, gateway.url, [carrier], "zstd", { message: "x", compressed: true, headers }, unknown);
    const gzip = { [carrier.encodingHeader]: "gzip" };
    const notGzip = { message: "not gzip at all", compressed: true, headers: gzip };
    await refuses(t, gateway.url, [carrier], "text as gzip", notGzip, malformed);
    const cut = { message: gzipSync(Buffer.alloc(5000, 1)).subarray(0, 12), compressed: true, headers: gzip };
    await refuses(t, gateway.url, [carrier], "half of gzip", cut, malformed);
  }
  const unnamed = { message: gzipSync("{}"), compressed: true };
  await refuses(t, gateway.url, enveloped, "unnamed", unnamed, { reason: "COMPRESSION_NOT_NAMED" });
});

test("a malformed deadline is refused; one beyond any timer means none", async (t) => {
  const gateway = await sharedGateway();
  for (const carrier of [...json, ...binary]) {
    const message = carrier.type.endsWith("json") ? "{}" : "";
    const [name, bad, endless] = carrier.isEnveloped
      ? ["grpc-timeout", ["", "1", "S", "-1S", "1x", "123456789S", "1.5S"], ["99999999H", "99999999S"]]
      : ["connect-timeout-ms", ["", "x", "-1", "1.5", "12345678901"], ["9999999999", "2147483648"]];
    for (const value of bad) {
      const sent = { path: readPath, message, headers: { [name]: value } };
      await refuses(t, gateway.url, [carrier], `${name}: ${value}`, sent, malformed);
    }
    for (const value of endless) {
      const answer = await send(gateway.url, carrier, {
        path: readPath,
        message,
        headers: { [name]: value },
      });
      t.equal(errorFromAnswer(answer), undefined, `${name}: ${value} by ${carrier.name}`);
    }
  }
  await assertUnharmed(t, gateway);
});

test("a GET with an invalid query is refused", async (t) => {
  const gateway = await sharedGateway();
  const cases = {
    "encoding=json&base64=1&message=%21%21": malformed,
    "encoding=proto&base64=1&message=/": malformed,
    "encoding=json&message=%7B": malformed,
    "encoding=proto&base64=1&message=Cgk": malformed,
    "encoding=json&message=%7B%7D&compression=zstd": { reason: "UNSUPPORTED_COMPRESSION" },
    "encoding=json&message=%7B%7D&compression=gzip": malformed,
  };
  for (const version of ["1.1", "2"] as const) {
    for (const [query, expected] of Object.entries(cases)) {
      const answer = await requestOver[version](gateway.url, { method: "GET", path: `${readPath}?${query}` });
      t.match(errorFromAnswer(answer), expected, `${query} over HTTP/${version}`);
    }
    for (const query of ["", "encoding=xml&message=%7B%7D", "message=%7B%7D"]) {
      const answer = await requestOver[version](gateway.url, { method: "GET", path: `${readPath}?${query}` });
      t.equal(answer.status, 415, `no known encoding: ${query}`);
    }
  }
  await assertUnharmed(t, gateway);
});

test("the answer to an unknown compression names the supported ones", async (t) => {
  const gateway = await startGatewayUnderTest(t);
  for (const carrier of [...json, ...binary]) {
    const headers = { [carrier.encodingHeader]: "zstd" };
    const answer = await send(gateway.url, carrier, {
      path: readPath,
      message: "{}",
      headers,
      compressed: true,
    });
    t.match(errorFromAnswer(answer), { code: "UNIMPLEMENTED", reason: "UNSUPPORTED_COMPRESSION" });
    const accepted =
      answer.headers[carrier.encodingHeader.replace("encoding", "accept-encoding").replace("content-", "")];
    t.equal(accepted, "gzip,br", carrier.name);
  }
  await assertUnharmed(t, gateway);
});

test("HTTP/2 allows as many header fields as HTTP/1.1", async (t) => {
  const gateway = await sharedGateway();
  const fields = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, "1"]));
  for (const version of ["1.1", "2"] as const) {
    const headers = { "content-type": "application/json", ...fields };
    const answer = await requestOver[version](gateway.url, { path: readPath, headers, body: "{}" });
    t.equal(answer.status, 200, `over HTTP/${version}`);
  }
});

test("headers beyond the limit and an invalid path are refused", async (t) => {
  const gateway = await startGatewayUnderTest(t, { limits: { headerBytes: 4096 } });
  const headers = { "content-type": "application/json", "x-large": "x".repeat(20_000) };
  for (const version of ["1.1", "2"] as const) {
    const answer = await requestOver[version](gateway.url, { path: readPath, headers, body: "{}" });
    t.equal(answer.status, 431, `over HTTP/${version}`);
  }
  const long = await requestOver["1.1"](gateway.url, { path: `/${"a".repeat(3000)}`, body: "" });
  t.equal(long.status, 404);
  for (const path of ["http://evil.example/proto.VGService/GetFreeBytes", "//x/..", "/%", "/%zz/x", "*"]) {
    const odd = await requestOver["1.1"](gateway.url, { path, headers: { host: "localhost" }, body: "{}" });
    t.ok(odd.status >= 400 && odd.status < 500, `${path}: ${odd.status}`);
  }
  await assertUnharmed(t, gateway);
});

/** Reproducible noise: xorshift. */
function noise(byteCount: number, seed: number): Buffer {
  const bytes = Buffer.alloc(byteCount);
  let state = seed;
  for (let at = 0; at < byteCount; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state & 0xff;
  }
  return bytes;
}

test("a megabyte of noise on the port causes no harm", async (t) => {
  const gateway = await sharedGateway();
  const { port } = new URL(gateway.url);
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const http1 = `POST ${createPath} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/proto\r\n`;
  const beginnings = ["", "PRI", preface, http1, `${http1}content-length: 1048576\r\n\r\n`];
  for (const [index, beginning] of beginnings.entries()) {
    const socket = net.connect(Number(port), "127.0.0.1");
    // The gateway may close the connection while noise is still being written.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.resume();
    socket.end(Buffer.concat([Buffer.from(beginning), noise(1 << 20, index + 1)]));
    await closed;
  }
  await assertUnharmed(t, gateway);
});

test("an lvmd request with contradicting fields is refused, and both are named", async (t) => {
  const gateway = await sharedGateway();
  const contradiction = (fields: RegExp) => ({
    code: "INVALID_ARGUMENT",
    reason: "INVALID_FIELD",
    message: fields,
  });
  const name = [0x0a, 0x01, 0x61];
  const threeGb = [0x10, 0x03];
  // 1,610,612,736 bytes, which TopoLVM 0.36.0 rounds down to size_gb: 1.
  const varint = [0x80, 0x80, 0x80, 0x80, 0x06];
  const sizes = contradiction(/size_gb.*size_bytes/);
  const create = { message: Uint8Array.from([...name, ...threeGb, 0x30, ...varint]) };
  await refuses(t, gateway.url, binary, "CreateLV", create, sizes);
  const resize = {
    path: "/proto.LVService/ResizeLV",
    message: Uint8Array.from([...name, ...threeGb, 0x38, ...varint]),
  };
  await refuses(t, gateway.url, binary, "ResizeLV", resize, sizes);
  // Without size_bytes, field 5 is a message.
  const optionClass = { message: Uint8Array.from([...name, ...threeGb, 0x2a, 0x03, 0x61, 0x62, 0x63]) };
  await refuses(t, gateway.url, binary, "CreateLV", optionClass, contradiction(/field 5 .*size_bytes/));
  const notText = { message: Uint8Array.from([...name, 0x2a, 0x01, 0xff, 0x30, ...varint]) };
  await refuses(t, gateway.url, binary, "CreateLV", notText, contradiction(/lvcreate_option_class.*UTF-8/));
  for (const [other, fields] of [
    [{ sizeGb: "3" }, /size_gb.*size_bytes/],
    [{ dataSource: { synchronousRestore: true } }, /data_source.*size_bytes/],
    [{ lvcreateOptionClass: "none" }, /lvcreate_option_class.*available: none/],
  ] as const) {
    const message = JSON.stringify({ name: "a", sizeBytes: "1610612736", ...other });
    await refuses(t, gateway.url, json, "CreateLV", { message }, contradiction(fields));
  }
  const both = JSON.stringify({ name: "a", sizeGb: "3", lvcreateOptionClass: "x", dataSource: {} });
  await refuses(
    t,
    gateway.url,
    json,
    "CreateLV",
    { message: both },
    contradiction(/data_source.*lvcreate_option_class/),
  );
  const [carrier] = binary;
  const rounded = { message: Uint8Array.from([...name, 0x10, 0x01, 0x30, ...varint]) };
  t.equal(
    carrier && errorFromAnswer(await send(gateway.url, carrier, rounded)),
    undefined,
    "size_gb rounded down",
  );
});
