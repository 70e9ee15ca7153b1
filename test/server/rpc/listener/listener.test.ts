import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as https from "node:https";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as tls from "node:tls";
import { type Test, test } from "tap";
import { createListener } from "../../../../server/rpc/listener/listener.ts";
import type { ListenerOptions } from "../../../../server/rpc/listener/listener-options.ts";
import { createCertificate } from "./certificate.ts";

async function listen(t: Test, options: Partial<ListenerOptions> = {}) {
  const listener = createListener({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    mode: 0o600,
    tls: undefined,
    maxConcurrentStreams: 100,
    headerBytes: 16_384,
    keepAliveMs: 15_000,
    onRequest: (request, response) => {
      response.end(`${request.httpVersion} ${request.url}`);
    },
    ...options,
  });
  await listener.listen();
  t.teardown(() => listener.close(0));
  const port = Number(listener.address().split(":").at(-1));
  return { listener, port };
}

async function getHttp2(session: http2.ClientHttp2Session, path: string): Promise<string> {
  return text(session.request({ ":path": path }));
}

function connectHttp2(t: Test, url: string, options?: http2.SecureClientSessionOptions) {
  const session = http2.connect(url, options);
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  return session;
}

/** Long enough for any answer, also on a busy machine. */
const graceMs = 60_000;

/** Returns a function to call for each request, and a promise that resolves once it was called this often. */
function countedRequests(expected: number) {
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  const count = () => {
    seen += 1;
    if (seen === expected) {
      resolve();
    }
  };
  return { all, count };
}

/** Answers in two parts, the second one after the test has begun to close the listener. */
function answerInTwoParts(onRequest: () => void): ListenerOptions["onRequest"] {
  return (_request, response) => {
    response.write("first ");
    setTimeout(() => response.end("last"), 150);
    onRequest();
  };
}

/** Resolves when a socket is closed, in whatever way. */
function untilClosed(socket: net.Socket): Promise<void> {
  // A connection that is reset reports an error before it closes.
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.resume().once("close", () => resolve());
  });
}

/** Sends raw bytes. Resolves with everything received when the server closes or `untilText` was received. */
async function exchange(t: Test, socket: net.Socket, untilText: string): Promise<string> {
  t.teardown(() => socket.destroy());
  let answer = "";
  for await (const chunk of socket) {
    answer += chunk;
    if (answer.includes(untilText)) {
      break;
    }
  }
  return answer;
}

test("HTTP/1.1 and HTTP/2 are served on one cleartext port", async (t) => {
  const { port } = await listen(t);
  const answer = await fetch(`http://127.0.0.1:${port}/a`);
  t.equal(await answer.text(), "1.1 /a");
  t.equal(await getHttp2(connectHttp2(t, `http://127.0.0.1:${port}`), "/b"), "2.0 /b");
});

test("a client that sends its request one byte at a time is served, over either version", async (t) => {
  const { port } = await listen(t);
  const socket = net.connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  const answer = exchange(t, socket, "1.1 /slow");
  for (const byte of Buffer.from("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n")) {
    socket.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.match(await answer, /200 OK[\s\S]*1\.1 \/slow/);

  const slow = net.connect(port, "127.0.0.1");
  await once(slow, "connect");
  const write = slow.write.bind(slow);
  let isFirst = true;
  slow.write = ((chunk: Buffer, ...rest: []) => {
    if (!isFirst) {
      return write(chunk, ...rest);
    }
    isFirst = false;
    for (const byte of chunk.subarray(0, 8)) {
      write(Buffer.of(byte));
    }
    return write(chunk.subarray(8), ...rest);
  }) as never;
  const session = connectHttp2(t, "http://127.0.0.1", { createConnection: () => slow });
  t.equal(await getHttp2(session, "/slow2"), "2.0 /slow2");
});

test("a client that sends a single P costs no time", async (t) => {
  const { port } = await listen(t);
  const socket = net.connect(port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  socket.write("P");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { user, system } = process.cpuUsage(before);
  t.ok(user + system < 100_000, `${user + system} us of CPU in 200 ms`);
});

test("TLS speaks HTTP/1.1 and HTTP/2 by ALPN, and a new certificate is only used for new connections", async (t) => {
  const first = await createCertificate("first.test");
  const second = await createCertificate("second.test");
  const { listener, port } = await listen(t, { tls: first });
  const trust = {
    ca: [first.cert, second.cert],
    servername: "localhost",
    checkServerIdentity: () => undefined,
  };
  const session = connectHttp2(t, `https://127.0.0.1:${port}`, trust);
  t.equal(await getHttp2(session, "/tls"), "2.0 /tls");

  const get = async () => {
    const request = https.get({ host: "127.0.0.1", port, path: "/one", agent: false, ...trust });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    const subject = (response.socket as tls.TLSSocket).getPeerCertificate().subject.CN;
    return { body: await text(response), subject };
  };
  t.same(await get(), { body: "1.1 /one", subject: "first.test" });
  listener.reloadCertificate(second);
  t.same(await get(), { body: "1.1 /one", subject: "second.test" });
  t.equal(await getHttp2(session, "/old"), "2.0 /old", "the open connection continues");
});

test("a unix socket has its mode, replaces a dead file and refuses a live one", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-listener-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "gateway.sock");
  const dead = net.createServer().listen(path);
  await once(dead, "listening");
  // Closing would remove the file; a killed process leaves it.
  renameSync(path, `${path}.kept`);
  dead.close();
  await once(dead, "close");
  renameSync(`${path}.kept`, path);

  const { listener } = await listen(t, { address: { kind: "unix", path }, mode: 0o640 });
  t.equal(statSync(path).mode & 0o777, 0o640);
  const request = http.get({ socketPath: path, path: "/u", agent: false });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  t.equal(await text(response), "1.1 /u");
  await t.rejects(listen(t, { address: { kind: "unix", path } }), { message: /another process listens/ });
  const file = join(folder, "file");
  writeFileSync(file, "");
  await t.rejects(listen(t, { address: { kind: "unix", path: file } }), { message: /not a socket/ });
  await listener.close(0);
});

test("a socket whose mode cannot be set is not left behind", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-listener-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "gateway.sock");
  await t.rejects(listen(t, { address: { kind: "unix", path }, mode: -1 }), { code: "ERR_OUT_OF_RANGE" });
  t.throws(() => statSync(path), { code: "ENOENT" });
});

test("a client on a unix socket may use the path as its authority", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-listener-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "lvmd.sock");
  await listen(t, { address: { kind: "unix", path } });
  const session = connectHttp2(t, "http://localhost", { createConnection: () => net.connect(path) });
  const stream = session.request({ ":path": "/x", ":authority": "/run/topolvm/lvmd.sock" });
  const [headers] = await once(stream, "response");
  t.equal(headers[":status"], 200);
});

test("close ends silent, idle and busy connections within the grace period", async (t) => {
  const arrived = countedRequests(2);
  const { listener, port } = await listen(t, { onRequest: arrived.count });
  const silent = net.connect(port, "127.0.0.1");
  await once(silent, "connect");
  const busy = net.connect(port, "127.0.0.1");
  busy.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const session = connectHttp2(t, `http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": "/" });
  stream.on("error", () => {});
  await arrived.all;
  const ended = Promise.all([silent, busy].map(untilClosed));
  const startedAtMs = performance.now();
  await listener.close(200);
  t.ok(performance.now() - startedAtMs < 10_000, "close does not wait for clients");
  await ended;
});

test("close lets a running response finish", async (t) => {
  const arrived = countedRequests(2);
  const { listener, port } = await listen(t, { onRequest: answerInTwoParts(arrived.count) });
  const answer = fetch(`http://127.0.0.1:${port}/`).then((response) => response.text());
  const session = connectHttp2(t, `http://127.0.0.1:${port}`);
  const over2 = getHttp2(session, "/");
  await arrived.all;
  await listener.close(graceMs);
  t.equal(await answer, "first last");
  t.equal(await over2, "first last");
});

test("close lets a response over TLS finish, over either version", async (t) => {
  const certificate = await createCertificate("close.test");
  const arrived = countedRequests(2);
  const { listener, port } = await listen(t, {
    tls: certificate,
    onRequest: answerInTwoParts(arrived.count),
  });
  const trust = { ca: certificate.cert, servername: "localhost", checkServerIdentity: () => undefined };
  const request = https.get({ host: "127.0.0.1", port, agent: false, ...trust });
  const over1 = once(request, "response").then(([response]) => text(response as http.IncomingMessage));
  const over2 = getHttp2(connectHttp2(t, `https://127.0.0.1:${port}`, trust), "/");
  await arrived.all;
  await listener.close(graceMs);
  t.equal(await over1, "first last");
  t.equal(await over2, "first last");
});

test("a peer that no longer answers pings loses its connection", async (t) => {
  const { port } = await listen(t, { keepAliveMs: 50 });
  const socket = net.connect(port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  // A preface and empty SETTINGS, and then silence: no PING is ever acknowledged.
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  socket.resume();
  await once(socket, "close");
  t.pass("the connection was closed");
});

test("a client is informed how many streams it may open at once", async (t) => {
  const { port } = await listen(t, { maxConcurrentStreams: 3 });
  const session = connectHttp2(t, `http://127.0.0.1:${port}`);
  await once(session, "remoteSettings");
  t.equal(session.remoteSettings.maxConcurrentStreams, 3);
});

test("a client that resets the connection after its request is identified by its address, or not served", async (t) => {
  const seen: (string | undefined)[] = [];
  const onRequest: ListenerOptions["onRequest"] = (request, response) => {
    seen.push(request.socket.remoteAddress);
    response.end();
  };
  const certificate = await createCertificate("localhost");
  const cleartext = await listen(t, { onRequest });
  const encrypted = await listen(t, { onRequest, tls: certificate });
  const request = "GET /a HTTP/1.1\r\nhost: localhost\r\n\r\n";
  async function requestAndReset(socket: net.Socket | tls.TLSSocket, transport: net.Socket, ready: string) {
    socket.on("error", () => {});
    await once(socket, ready);
    socket.write(request, () => transport.resetAndDestroy());
    await once(transport, "close");
  }
  for (let i = 0; i < 50; i++) {
    const plain = net.connect(cleartext.port, "127.0.0.1");
    const carrier = net.connect(encrypted.port, "127.0.0.1");
    carrier.on("error", () => {});
    const secure = tls.connect({ socket: carrier, ca: certificate.cert, servername: "localhost" });
    await Promise.all([
      requestAndReset(plain, plain, "connect"),
      requestAndReset(secure, carrier, "secureConnect"),
    ]);
  }
  t.equal((await fetch(`http://127.0.0.1:${cleartext.port}/`)).status, 200);
  t.ok(
    seen.every((address) => address === "127.0.0.1"),
    JSON.stringify([...new Set(seen)]),
  );
});

test("a client that does not finish its headers, or its HTTP/2 preface, loses the connection", async (t) => {
  const { port } = await listen(t, { headersMs: 200 });
  const beginnings = {
    "headers of HTTP/1.1": "GET / HTTP/1.1\r\nhost: a\r\nx: ",
    "a preface without SETTINGS": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  };
  for (const [what, beginning] of Object.entries(beginnings)) {
    const socket = net.connect(port, "127.0.0.1");
    t.teardown(() => socket.destroy());
    socket.on("error", () => {});
    socket.write(beginning);
    const began = performance.now();
    const drip = setInterval(() => what.includes("1.1") && socket.write("a"), 50);
    t.teardown(() => clearInterval(drip));
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(drip);
    t.ok(performance.now() - began < 10_000, what);
  }
});
