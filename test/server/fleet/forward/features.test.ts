import * as net from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { envelopesFrom } from "../../harness/envelopes.ts";
import { type RawRequest, requestHttp1, requestHttp2 } from "../../harness/raw-request.ts";
import { startFleetUnderTest } from "./fleet-under-test.ts";

const origin = "https://page.example";
const list = "/proto.VGService/GetLVList";
const json = { "content-type": "application/json" };

test("a hub forwards what clients use besides plain calls", async (t) => {
  const listen = [{ address: "127.0.0.1:0" }, { address: "127.0.0.1:0", fleetHost: "node-2" }];
  const fleet = await startFleetUnderTest(t, ["node-1", "node-2"], { listen, cors: { origins: [origin] } });
  const { url, gateway } = fleet.hub;
  const ofListener = `http://${gateway.addresses[1]}`;
  const { authorization } = fleet;
  const to = (host: string) => ({ authorization, "hostplane-host": host });
  const host1 = to("node-1");

  for (let at = 0; at < 8; at += 1) {
    const body = JSON.stringify({ name: `compressible-${at}-${"x".repeat(80)}`, sizeGb: 1 });
    const path = "/proto.LVService/CreateLV";
    await requestHttp1(url, { path, headers: { ...json, ...host1 }, body });
  }

  await t.test("REST routes, by every way to name a host", async (t) => {
    for (const [base, path, headers] of [
      [url, "/api/v1/cluster/list", host1],
      [url, "/hosts/node-1/api/v1/cluster/list", { authorization }],
      [ofListener, "/api/v1/cluster/list", { authorization }],
    ] as const) {
      const answer = await requestHttp1(base, { method: "GET", path, headers });
      t.match(answer, { status: 200, headers: { "hostplane-host": /^node-/, "content-type": /json/ } }, path);
      t.same(JSON.parse(answer.body.toString()), { ok: true }, path);
    }
    const missing = {
      method: "GET",
      path: "/hosts/node-1/api/v1/cluster?name=none",
      headers: { authorization },
    };
    const answer = await requestHttp1(url, missing);
    t.match(answer, { status: 404, headers: { "hostplane-host": "node-1" } });
    t.match(JSON.parse(answer.body.toString()), { details: [{ reason: "CLUSTER_NOT_FOUND" }] });
    t.match(await requestHttp1(url, { ...missing, method: "PUT" }), {
      status: 405,
      headers: { allow: /GET/ },
    });
  });

  await t.test("compressed requests and answers of each protocol", async (t) => {
    const compressions = {
      gzip: [gzipSync, gunzipSync],
      br: [brotliCompressSync, brotliDecompressSync],
    } as const;
    for (const [name, [compress, decompress]] of Object.entries(compressions)) {
      const unary = await requestHttp2(url, {
        path: list,
        headers: { ...json, ...host1, "content-encoding": name, "accept-encoding": name },
        body: compress(Buffer.from("{}")),
      });
      t.match(unary, { status: 200, headers: { "content-encoding": name } }, name);
      t.match(decompress(unary.body).toString(), /compressible-7/, name);
      for (const [type, prefix] of [
        ["application/grpc+json", "grpc-"],
        ["application/grpc-web+json", "grpc-"],
      ] as const) {
        const answer = await requestHttp2(url, {
          path: list,
          headers: {
            ...host1,
            "content-type": type,
            te: "trailers",
            [`${prefix}encoding`]: name,
            [`${prefix}accept-encoding`]: name,
          },
          body: encodeEnvelope(1, compress(Buffer.from("{}"))),
        });
        t.match(answer, { status: 200, headers: { "grpc-encoding": name } }, `${name} ${type}`);
        const [first] = envelopesFrom(answer.body);
        t.equal(first?.flags, 1);
        t.match(decompress(first?.data ?? Buffer.alloc(0)).toString(), /compressible-7/, `${name} ${type}`);
      }
    }
  });

  await t.test("gRPC-Web text", async (t) => {
    const answer = await requestHttp1(url, {
      path: list,
      headers: { ...host1, "content-type": "application/grpc-web-text", accept: "application/grpc-web-text" },
      body: Buffer.from(encodeEnvelope(0, new Uint8Array())).toString("base64"),
    });
    t.match(answer, { status: 200, headers: { "content-type": /^application\/grpc-web-text/ } });
    const parts = answer.body.toString().match(/[^=]+=*/g) ?? [];
    const envelopes = envelopesFrom(Buffer.concat(parts.map((part) => Buffer.from(part, "base64"))));
    t.match(envelopes[0]?.data.toString(), /compressible-7/);
    t.match(envelopes[1]?.data.toString(), /grpc-status: 0/);
  });

  await t.test("Connect GET, which is answered with 304 for a known tag", async (t) => {
    const path = `${list}?connect=v1&encoding=json&message=%7B%7D`;
    for (const send of [requestHttp1, requestHttp2]) {
      const first = await send(url, { method: "GET", path, headers: host1 });
      t.match(first, { status: 200, headers: { etag: /^"[\w-]{43}"$/, vary: /accept-encoding/i } });
      const headers = { ...host1, "if-none-match": String(first.headers.etag) };
      const again = await send(url, { method: "GET", path, headers });
      t.match(again, { status: 304, headers: { etag: first.headers.etag, "hostplane-host": "node-1" } });
      t.equal(again.body.byteLength, 0);
      const other = { method: "GET", path, headers: { ...headers, "hostplane-host": "node-2" } };
      t.equal((await send(url, other)).status, 200, "the tag of another host's answer");
      const head = await send(url, { method: "HEAD", path, headers: host1 });
      t.match(head, { status: 200, headers: { etag: first.headers.etag } });
      t.equal(head.body.byteLength, 0);
    }
  });

  await t.test("a listener with fleetHost", async (t) => {
    const call = (path: string, headers = {}) =>
      requestHttp1(ofListener, { path, headers: { ...json, authorization, ...headers }, body: "{}" });
    t.match(await call(list), { status: 200, headers: { "hostplane-host": "node-2" } });
    t.match(await call(list, { "hostplane-host": "node-2" }), { status: 200 });
    t.match(await call(`/hosts/node-2${list}`), { status: 200 });
    for (const other of [call(list, { "hostplane-host": "node-1" }), call(`/hosts/node-1${list}`)]) {
      const { status, body } = await other;
      t.match({ status, body: body.toString() }, { status: 400, body: /HOST_NAME_INVALID/ });
    }
    const login = { path: "/services.auth.AuthService/Login", headers: json, body: "{}" };
    t.match((await requestHttp1(ofListener, login)).headers["hostplane-host"], undefined, "the hub logs in");
    const page = await requestHttp1(ofListener, { method: "GET", path: "/healthz" });
    t.match(page, { status: 200, headers: { "hostplane-host": undefined } }, "pages are the hub's");
  });

  await t.test("pages of other origins", async (t) => {
    const preflight = (path: string, from: string) =>
      requestHttp1(url, {
        method: "OPTIONS",
        path,
        headers: {
          origin: from,
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,content-type,hostplane-host",
        },
      });
    for (const path of [list, `/hosts/node-1${list}`, "/hosts/node-1/api/v1/cluster/list"]) {
      const { headers } = await preflight(path, origin);
      t.equal(headers["access-control-allow-origin"], origin, path);
      t.match(headers["access-control-allow-headers"], /hostplane-host/, path);
      const foreign = await preflight(path, "https://other.example");
      t.not(foreign.headers["access-control-allow-origin"], "https://other.example", path);
    }
    for (const [path, host] of [
      [list, { "hostplane-host": "node-1" }],
      [`/hosts/node-1${list}`, {}],
    ] as const) {
      for (const send of [requestHttp1, requestHttp2]) {
        const call = { path, headers: { ...json, authorization, ...host, origin }, body: "{}" };
        const { status, headers } = await send(url, call);
        t.match(
          { status, headers },
          {
            status: 200,
            headers: { "access-control-allow-origin": origin, "hostplane-host": "node-1" },
          },
        );
        t.match(headers["access-control-expose-headers"], /hostplane-host/);
        t.match(headers.vary, /origin/i);
      }
    }
  });

  await t.test("names of hosts that are none", async (t) => {
    const reasonOf = async (raw: RawRequest) =>
      /[A-Z_]*HOST[A-Z_]*/.exec((await requestHttp1(url, { ...raw, body: "{}" })).body.toString())?.[0];
    const own = { ...json, authorization };
    for (const path of [
      `/hosts/..${list}`,
      `/hosts/node-1/..${list}`,
      `/hosts/node-1/../node-2${list}`,
      `/hosts/node-1%2f..%2fnode-2${list}`,
      `/hosts/node-1/%2e%2e/node-2${list}`,
      `/hosts/${"a".repeat(64)}${list}`,
      `/hosts/${"a".repeat(4000)}${list}`,
      `/hosts/node-1/hosts/node-2${list}`,
    ]) {
      t.equal(await reasonOf({ path, headers: own }), "HOST_NAME_INVALID", path.slice(0, 80));
    }
    t.equal(
      await reasonOf({ path: list, headers: { ...own, "hostplane-host": "a".repeat(4000) } }),
      "HOST_NAME_INVALID",
    );
    const encoded = await requestHttp1(url, {
      path: "/hosts/node-1/proto.VGService%2fGetLVList",
      headers: own,
      body: "{}",
    });
    t.match({ status: encoded.status, body: encoded.body.toString() }, { status: 404, body: "not found\n" });
  });

  await t.test("a header that was sent twice, over HTTP/1.1 and HTTP/2", async (t) => {
    const head = `POST ${list} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n`;
    const twice =
      "hostplane-host: node-1\r\nhostplane-host: node-1\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    const socket = net.connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(head + twice);
    t.match(await text(socket), /^HTTP\/1.1 400 [\s\S]*HOST_NAME_INVALID/);
    const { status, body } = await requestHttp2(url, {
      path: list,
      headers: { ...json, authorization, "hostplane-host": ["node-1", "node-1"] as unknown as string },
      body: "{}",
    });
    t.match({ status, body: body.toString() }, { status: 400, body: /HOST_NAME_INVALID/ });
  });
});
