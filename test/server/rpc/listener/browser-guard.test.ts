import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { parseListenAddress } from "../../../../server/config/listen-address.ts";
import { createBrowserGuard, type GuardedListener } from "../../../../server/rpc/listener/browser-guard.ts";
import type { NodeRequest } from "../../../../server/rpc/protocols/http/http-exchange.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { errorFromAnswer } from "../../harness/raw-error.ts";
import { requestOver } from "../../harness/raw-request.ts";

const origins = ["https://dashboard.example.org"];

/** Returns a function that gives the reason why a listener refuses a request with these headers; undefined if it does not. */
function guardOf(text: string, listener: Partial<GuardedListener> = {}) {
  const address = parseListenAddress(text);
  if (typeof address === "string") {
    throw new Error(address);
  }
  const guard = createBrowserGuard(
    { address, isOpen: false, isTls: false, allowsForwarded: false, hosts: [], ...listener },
    origins,
  );
  return (headers: Record<string, string>, localAddress = "127.0.0.1") =>
    guard({ headers, socket: { localAddress } } as unknown as NodeRequest)?.reason;
}

test("without login, and on loopback, a request must name the listener", async (t) => {
  const allowed = [
    "localhost",
    "LOCALHOST:1",
    "127.0.0.1:8080",
    "[::1]:1",
    "[0:0::1]",
    "node.example",
    "Node.example:80",
    "",
  ];
  for (const listener of [
    guardOf("127.0.0.1:1", { hosts: ["node.example"] }),
    guardOf("0.0.0.0:1", { hosts: ["node.example"], isOpen: true }),
  ]) {
    for (const host of allowed) {
      t.equal(listener({ host }), undefined, host);
      t.equal(listener({ ":authority": host }), undefined, host);
    }
    for (const host of [
      "evil.example",
      "evil.example:8080",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "192.0.2.1",
      "[::2]",
    ]) {
      t.equal(listener({ host }), "HOST_NOT_ALLOWED", host);
      t.equal(listener({ ":authority": host }), "HOST_NOT_ALLOWED", host);
    }
    t.equal(listener({}), undefined);
  }
});

test("beyond loopback the addresses of a listener without login are valid names of it", async (t) => {
  const any = guardOf("[::]:1", { isOpen: true });
  t.equal(any({ host: "192.0.2.1:1" }, "::ffff:192.0.2.1"), undefined);
  t.equal(any({ host: "192.0.2.2:1" }, "::ffff:192.0.2.1"), "HOST_NOT_ALLOWED");
  t.equal(any({ host: "[2001:DB8:0::7]:1" }, "2001:db8::7"), undefined);
  const named = guardOf("Gateway.example:1", { isOpen: true });
  t.equal(named({ host: "gateway.example:1" }, "192.0.2.1"), undefined);
  t.equal(named({ host: "other.example" }, "192.0.2.1"), "HOST_NOT_ALLOWED");
});

test("beyond loopback with login, and on a unix socket, any host is accepted", async (t) => {
  for (const listener of [
    guardOf("0.0.0.0:1", { isTls: true }),
    guardOf("unix:/a"),
    guardOf("unix:/a", { isOpen: true }),
  ]) {
    t.equal(listener({ host: "anything.example" }), undefined);
    t.equal(listener({ host: "anything.example", origin: "https://anything.example" }), undefined);
  }
});

test("a page must have the same origin, or be listed, wherever browsers can connect", async (t) => {
  for (const listener of [
    guardOf("127.0.0.1:1"),
    guardOf("0.0.0.0:1"),
    guardOf("unix:/a"),
    guardOf("127.0.0.1:1", { isOpen: true }),
  ]) {
    const host = "localhost:8080";
    t.equal(listener({ host, origin: "http://localhost:8080" }), undefined);
    t.equal(listener({ host, origin: "https://localhost:8080" }), undefined, "TLS terminated by a proxy");
    t.equal(listener({ host: "localhost:80", origin: "http://localhost" }), undefined);
    t.equal(listener({ host, origin: "https://dashboard.example.org" }), undefined);
    for (const origin of [
      "http://localhost",
      "http://localhost:3000",
      "null",
      "",
      "https://evil.example",
      "http://localhost:8080/",
      "file://",
      "http://localhost:8080.evil.example",
    ]) {
      t.equal(listener({ host, origin }), "ORIGIN_NOT_ALLOWED", origin);
    }
  }
  const mode = guardOf("unix:/a", { isOpen: true });
  t.equal(
    mode({ host: "a.example", origin: "https://evil.example" }),
    undefined,
    "its mode decides who may call",
  );
  const tls = guardOf("0.0.0.0:1", { isTls: true });
  t.equal(tls({ host: "a.example", origin: "https://a.example" }), undefined);
  t.equal(tls({ host: "a.example", origin: "http://a.example" }), "ORIGIN_NOT_ALLOWED", "a page without TLS");
});

test("forwarded requests are refused on TCP without login, and nowhere else", async (t) => {
  const marks = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-anything",
    "x-real-ip",
    "via",
  ];
  for (const mark of marks) {
    const headers = { host: "localhost", [mark]: "192.0.2.1" };
    t.equal(guardOf("127.0.0.1:1", { isOpen: true })(headers), "FORWARDED_NOT_ALLOWED", mark);
    t.equal(guardOf("0.0.0.0:1", { isOpen: true })(headers), "FORWARDED_NOT_ALLOWED", mark);
    t.equal(guardOf("127.0.0.1:1", { isOpen: true, allowsForwarded: true })(headers), undefined, mark);
    t.equal(guardOf("127.0.0.1:1")(headers), undefined, mark);
    t.equal(guardOf("unix:/a", { isOpen: true })(headers), undefined, mark);
  }
});

for (const [version, request] of Object.entries(requestOver)) {
  test(`a listener without login refuses foreign requests over HTTP/${version}, each with an id`, async (t) => {
    const dir = await mkdtemp(join(tmpdir(), "hostplane-"));
    t.teardown(() => rm(dir, { recursive: true }));
    const open = { auth: "none", role: "viewer", services: ["hostplane.v1.SystemService"] };
    const { url, gateway } = await startGatewayUnderTest(t, {
      listen: [
        { address: "127.0.0.1:0", ...open },
        { address: `unix:${dir}/a.sock`, ...open },
        { address: "127.0.0.1:0", allowForwarded: true, ...open },
      ],
    });
    const path = "/hostplane.v1.SystemService/GetInfo";
    const send = (headers: Record<string, string>, socketPath?: string, to = url) =>
      request(to, {
        path,
        body: "{}",
        headers: { "content-type": "application/json", ...headers },
        ...(socketPath === undefined ? {} : { socketPath }),
      });
    for (const [headers, reason] of [
      [{ host: "evil.example" }, "HOST_NOT_ALLOWED"],
      [{ origin: "http://evil.example" }, "ORIGIN_NOT_ALLOWED"],
      [{ "x-forwarded-for": "192.0.2.1" }, "FORWARDED_NOT_ALLOWED"],
    ] as const) {
      const answer = await send(headers);
      t.equal(answer.status, 403, reason);
      t.equal(errorFromAnswer(answer)?.reason, reason);
      t.match(answer.headers["hostplane-request-id"], /^[\da-f-]{36}$/);
    }
    t.equal(
      (await send({ "x-forwarded-for": "192.0.2.1", host: "evil.example" }, `${dir}/a.sock`)).status,
      200,
    );
    const behindProxy = `http://${gateway.addresses[2]}`;
    t.equal((await send({ "x-forwarded-for": "192.0.2.1" }, undefined, behindProxy)).status, 200);
  });
}
