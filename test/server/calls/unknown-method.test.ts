import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { type Test, test } from "tap";
import { envelopesFrom } from "../harness/envelopes.ts";
import { createSharedGateway, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { errorFromAnswer } from "../harness/raw-error.ts";
import { requestHttp1, requestHttp2, requestOver } from "../harness/raw-request.ts";

const sharedGateway = createSharedGateway();

const httpVersions = ["1.1", "2"] as const;
const unknownPaths = ["/proto.VGService/NoSuch", "/no.such.Service/Get", "/api/proto.VGService/NoSuch"];
const emptyEnvelope = encodeEnvelope(0, new Uint8Array(0));

test("gRPC gets a trailers-only answer for an unknown method", async (t) => {
  const { url } = await sharedGateway();
  for (const path of unknownPaths) {
    for (const type of ["application/grpc", "application/grpc+proto", "application/grpc+json"]) {
      const headers = { "content-type": type, te: "trailers" };
      const answer = await requestHttp2(url, { path, headers, body: emptyEnvelope });
      t.equal(answer.status, 200, `${type} ${path}`);
      t.match(answer.headers, { "content-type": type, "grpc-status": "12" });
      t.match(errorFromAnswer(answer), {
        code: "UNIMPLEMENTED",
        reason: "METHOD_NOT_FOUND",
        domain: "hostplane",
      });
      t.equal(answer.body.byteLength, 0);
    }
  }
});

test("gRPC-Web gets a trailers-only answer for an unknown method, over either HTTP version", async (t) => {
  const { url } = await sharedGateway();
  for (const version of httpVersions) {
    for (const path of unknownPaths) {
      for (const type of [
        "application/grpc-web",
        "application/grpc-web+proto",
        "application/grpc-web+json",
      ]) {
        const headers = { "content-type": type };
        const answer = await requestOver[version](url, { path, headers, body: emptyEnvelope });
        t.equal(answer.status, 200, `${type} ${path} over HTTP/${version}`);
        t.match(answer.headers, { "content-type": type, "grpc-status": "12" });
        t.match(errorFromAnswer(answer), { code: "UNIMPLEMENTED", reason: "METHOD_NOT_FOUND" });
        t.equal(answer.body.byteLength, 0);
      }
    }
  }
});

test("a unary Connect call of an unknown method gets 404 and Connect's JSON", async (t) => {
  const { url } = await sharedGateway();
  for (const version of httpVersions) {
    for (const path of unknownPaths) {
      for (const type of ["application/json", "application/proto"]) {
        const headers = { "content-type": type };
        const answer = await requestOver[version](url, { path, headers, body: "{}" });
        t.equal(answer.status, 404, `${type} ${path} over HTTP/${version}`);
        t.equal(answer.headers["content-type"], "application/json");
        t.match(errorFromAnswer(answer), { code: "UNIMPLEMENTED", reason: "METHOD_NOT_FOUND" });
      }
    }
    const get = await requestOver[version](url, { method: "GET", path: `${unknownPaths[0]}?encoding=json` });
    t.match(get, { status: 404, headers: { "content-type": "application/json" } });
  }
});

test("a Connect stream of an unknown method gets an end-of-stream message", async (t) => {
  const { url } = await sharedGateway();
  for (const version of httpVersions) {
    for (const path of unknownPaths) {
      for (const type of ["application/connect+json", "application/connect+proto"]) {
        const headers = { "content-type": type };
        const answer = await requestOver[version](url, { path, headers, body: emptyEnvelope });
        t.match(answer, { status: 200, headers: { "content-type": type } }, `${type} ${path}`);
        t.match(envelopesFrom(answer.body), [{ flags: 2 }], "one message, which ends the stream");
        t.match(errorFromAnswer(answer), { code: "UNIMPLEMENTED", reason: "METHOD_NOT_FOUND" });
      }
    }
  }
});

test("a path that is not an RPC's gets a plain 404", async (t) => {
  const { url } = await sharedGateway();
  for (const version of httpVersions) {
    for (const path of ["/no-such-page", "/a/b/c", "/api/v1/nothing/here", "/%00", "/api", "//"]) {
      const answer = await requestOver[version](url, { method: "GET", path });
      t.match(answer, { status: 404, headers: { "content-type": "text/plain" } }, `${path} ${version}`);
    }
  }
});

test("an unknown content type gets 415, for RPCs of every kind", async (t) => {
  const { url } = await sharedGateway();
  const types = [
    "text/xml",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/grpc-web-texts",
  ];
  for (const version of httpVersions) {
    for (const path of [
      "/proto.VGService/GetFreeBytes",
      "/proto.VGService/Watch",
      "/proto.LVService/CreateLV",
    ]) {
      for (const type of types) {
        const answer = await requestOver[version](url, {
          path,
          headers: { "content-type": type },
          body: "{}",
        });
        t.equal(answer.status, 415, `${type} ${path} over HTTP/${version}`);
        const message = new RegExp(`^unsupported content type "${type}" \\(supported: application/`);
        t.match(String(answer.body), message);
        t.match(answer.headers["content-type"], /^text\/plain/);
      }
      t.equal((await requestOver[version](url, { path, body: "{}" })).status, 415, "no content type");
    }
    const unaryAsStream = { "content-type": "application/connect+json" };
    const unary = "/proto.VGService/GetFreeBytes";
    t.equal((await requestOver[version](url, { path: unary, headers: unaryAsStream })).status, 415);
    const streamAsUnary = { "content-type": "application/json" };
    const stream = "/proto.VGService/Watch";
    t.equal((await requestOver[version](url, { path: stream, headers: streamAsUnary })).status, 415);
  }
});

test("a verb that no protocol uses gets 405 and the allowed verbs", async (t) => {
  const { url } = await sharedGateway();
  for (const version of httpVersions) {
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const read = await requestOver[version](url, { method, path: "/proto.VGService/GetFreeBytes" });
      t.match(read, { status: 405, headers: { allow: /GET.*POST/ } }, `${method} of a read`);
      const mutation = await requestOver[version](url, { method, path: "/api/proto.LVService/CreateLV" });
      t.match(mutation, { status: 405, headers: { allow: "POST" } }, `${method} of a mutation`);
    }
    for (const [path, allow] of [
      ["/proto.VGService/GetFreeBytes", "GET, POST, OPTIONS"],
      ["/api/proto.LVService/CreateLV", "POST, OPTIONS"],
      ["/api/v1/cluster", "DELETE, GET, POST, OPTIONS"],
    ] as const) {
      const options = await requestOver[version](url, { method: "OPTIONS", path });
      t.match(options, { status: 204, headers: { allow } }, `OPTIONS ${path}`);
    }
    const head = await requestOver[version](url, { method: "HEAD", path: "/proto.LVService/CreateLV" });
    t.match(head, { status: 405 }, "HEAD of a mutation");
  }
});

test("a listener serves only its services, and refuses others in each protocol's form", async (t) => {
  const { url, gateway } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0", services: ["proto.VGService"] }, { address: "127.0.0.1:0" }],
  });
  const refused = "/proto.LVService/RemoveLV";
  const expected = { code: "UNIMPLEMENTED", reason: "SERVICE_NOT_ON_LISTENER", domain: "hostplane" };
  for (const version of httpVersions) {
    const request = requestOver[version];
    for (const path of [refused, `/api${refused}`]) {
      const json = await request(url, { path, headers: { "content-type": "application/json" }, body: "{}" });
      t.match(errorFromAnswer(json), expected);
      const web = { "content-type": "application/grpc-web+proto" };
      t.match(errorFromAnswer(await request(url, { path, headers: web, body: emptyEnvelope })), expected);
    }
    const allowed = {
      path: "/proto.VGService/GetFreeBytes",
      headers: { "content-type": "application/json" },
    };
    t.match(await request(url, { ...allowed, body: "{}" }), { status: 200 });
    const elsewhere = `http://${gateway.addresses[1]}`;
    const json = { path: refused, headers: { "content-type": "application/json" }, body: '{"name":"none"}' };
    t.match(await request(elsewhere, json), { status: 200 }, "the other listener serves it");
  }
  const grpc = { "content-type": "application/grpc", te: "trailers" };
  t.match(
    errorFromAnswer(await requestHttp2(url, { path: refused, headers: grpc, body: emptyEnvelope })),
    expected,
  );
});

const call = { path: "/proto.VGService/GetFreeBytes", body: "{}" };

test("a TCP listener refuses foreign hosts and origins", async (t) => {
  const { url } = await startGatewayUnderTest(t, { cors: { origins: ["https://dashboard.example.org"] } });
  const { port } = new URL(url);
  const cases: readonly (readonly [Record<string, string>, string | undefined])[] = [
    [{ host: `127.0.0.1:${port}` }, undefined],
    [{ host: `localhost:${port}` }, undefined],
    [{ host: `LOCALHOST:${port}` }, undefined],
    [{ host: `[::1]:${port}` }, undefined],
    [{ host: "evil.example" }, "HOST_NOT_ALLOWED"],
    [{ host: `evil.example:${port}` }, "HOST_NOT_ALLOWED"],
    [{ host: "127.0.0.1.evil.example" }, "HOST_NOT_ALLOWED"],
    [{ host: `localhost:${port}`, origin: `http://localhost:${port}` }, undefined],
    [{ origin: "https://dashboard.example.org" }, undefined],
    [{ origin: "https://evil.example" }, "ORIGIN_NOT_ALLOWED"],
    [{ origin: "https://dashboard.example.org.evil.example" }, "ORIGIN_NOT_ALLOWED"],
    [{ origin: "http://localhost:1" }, "ORIGIN_NOT_ALLOWED"],
    [{ origin: "null" }, "ORIGIN_NOT_ALLOWED"],
  ];
  for (const version of httpVersions) {
    for (const [more, reason] of cases) {
      const headers = { "content-type": "application/json", ...more };
      const answer = await requestOver[version](url, { ...call, headers });
      t.equal(errorFromAnswer(answer)?.reason, reason, `${JSON.stringify(more)} over HTTP/${version}`);
    }
  }
  const grpc = { "content-type": "application/grpc", te: "trailers", host: "evil.example" };
  const answer = await requestHttp2(url, { path: call.path, headers: grpc, body: emptyEnvelope });
  t.match(
    errorFromAnswer(answer),
    { code: "PERMISSION_DENIED", reason: "HOST_NOT_ALLOWED" },
    "in gRPC's form",
  );
  const page = await requestHttp1(url, {
    method: "GET",
    path: "/healthz",
    headers: { host: "evil.example" },
  });
  t.equal(page.status, 403, "pages are refused too");
});

test("a unix socket checks neither host nor origin", async (t) => {
  const socketPath = unixSocketPath(t);
  await startGatewayUnderTest(t, { listen: [{ address: `unix:${socketPath}` }] });
  for (const version of httpVersions) {
    for (const more of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
      const headers = { "content-type": "application/json", ...more };
      const answer = await requestOver[version]("http://localhost", { ...call, headers, socketPath });
      t.equal(answer.status, 200, `${JSON.stringify(more)} over HTTP/${version}`);
    }
  }
});

function unixSocketPath(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-server-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return join(folder, "gateway.sock");
}

test("a refusal that only has an HTTP status explains in words what is supported", async (t) => {
  const { url } = await sharedGateway();
  const form = await fetch(`${url}/proto.VGService/GetLVList`, { method: "POST", body: "a=b" });
  t.equal(form.status, 415);
  t.match(await form.text(), /application\/json/);
  const get = await fetch(`${url}/proto.LVService/CreateLV`);
  t.equal(get.status, 405);
  t.match(await get.text(), /supports POST/);
});
