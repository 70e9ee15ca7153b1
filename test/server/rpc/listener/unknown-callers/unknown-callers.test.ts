import { once } from "node:events";
import * as http2 from "node:http2";
import * as net from "node:net";
import { text } from "node:stream/consumers";
import * as tls from "node:tls";
import { type Test, test } from "tap";
import type { Certificate } from "../../../../../server/rpc/listener/certificates/certificate.ts";
import { createListener } from "../../../../../server/rpc/listener/listener.ts";
import {
  createUnknownCallers,
  type UnknownCallerLimits,
} from "../../../../../server/rpc/listener/unknown-callers/unknown-callers.ts";
import { endResponse, type HttpRequest } from "../../../../../server/rpc/protocols/http/http-exchange.ts";
import { readBody } from "../../../../../server/rpc/protocols/http/read-body.ts";
import { createCertificate } from "../certificate.ts";

/**
 * Starts a server that answers `/known` as if its caller were authenticated, `/body` when its body is read, and anything else at
 * once.
 */
async function listen(
  t: Test,
  limits: Partial<UnknownCallerLimits>,
  writeTimeoutMs = 30_000,
  certificate?: Certificate,
) {
  const cut: string[] = [];
  const unknownCallers = createUnknownCallers(
    {
      connections: 100,
      connectionsPerAddress: 100,
      cpuMsPerSecond: 10_000,
      memoryBytes: 2 ** 30,
      memoryBytesPerAddress: 2 ** 30,
      ...limits,
    },
    writeTimeoutMs,
    (address, why) => cut.push(`${address} ${why}`),
  );
  const listener = createListener({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    mode: 0o600,
    tls: certificate,
    maxConcurrentStreams: 100,
    headerBytes: 16_384,
    keepAliveMs: 15_000,
    unknownCallers,
    async onRequest(request: HttpRequest, response) {
      if (request.url?.startsWith("/known") === true) {
        request.usage?.identified();
      }
      if (request.url === "/page") {
        request.usage?.sendsPage(1_000_000);
      }
      if (request.url === "/body") {
        // Rejects when the connection is cut.
        await readBody(request, 2 ** 27, "plain").catch(() => {});
      }
      endResponse(request, response, request.url === "/large" ? "a".repeat(400_000) : request.url);
    },
  });
  await listener.listen();
  t.teardown(async () => {
    await listener.close(0);
    unknownCallers.close();
  });
  const port = Number(listener.address().split(":").at(-1));
  const connect = (localAddress = "127.0.0.1") => {
    const socket = net.connect({ port, host: "127.0.0.1", localAddress });
    socket.on("error", () => {});
    t.teardown(() => socket.destroy());
    return socket;
  };
  const answerOf = async (socket: net.Socket, path: string) => {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    const [answer] = await once(socket, "data");
    return String(answer).split("\r\n\r\n")[1];
  };
  return { port, cut, connect, answerOf };
}

test("a connection beyond the limit of its address waits for one that ends; other addresses do not wait", async (t) => {
  const { connect, answerOf } = await listen(t, { connectionsPerAddress: 2 });
  const [first, second, third] = [connect(), connect(), connect()];
  t.equal(await answerOf(first, "/a"), "/a");
  t.equal(await answerOf(second, "/a"), "/a");
  const answer = answerOf(third, "/third");
  t.equal(await answerOf(connect("127.0.0.2"), "/b"), "/b", "another address is served");
  first.destroy();
  t.equal(await answer, "/third");
});

test("connections of known callers do not count", async (t) => {
  const { connect, answerOf } = await listen(t, { connectionsPerAddress: 2 });
  for (let index = 0; index < 6; index += 1) {
    t.equal(await answerOf(connect(), "/known"), "/known");
  }
});

test("beyond the total limit, the address with the most connections loses its oldest", async (t) => {
  const { connect, answerOf } = await listen(t, { connections: 3 });
  const greedy = [connect(), connect(), connect()];
  for (const socket of greedy) {
    await answerOf(socket, "/a");
  }
  const [oldest] = greedy;
  const closed = oldest && once(oldest, "close");
  t.equal(await answerOf(connect("127.0.0.2"), "/b"), "/b");
  await closed;
});

test("unfinished bodies of one address are cut, and another address is served", async (t) => {
  const { port, cut, connect, answerOf } = await listen(t, { memoryBytesPerAddress: 2 ** 18 });
  const session = http2.connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  const streams = Array.from({ length: 20 }, () => {
    const stream = session.request({ ":method": "POST", ":path": "/body" });
    stream.on("error", () => {});
    stream.write(Buffer.alloc(30_000));
    return stream;
  });
  await Promise.race(
    streams.map((stream) => new Promise((resolve) => stream.resume().once("close", resolve))),
  );
  t.match(cut[0], /127\.0\.0\.1 callers without a login use too much memory/);
  t.equal(await answerOf(connect("127.0.0.2"), "/b"), "/b");
});

test("a caller that sends many requests without a login loses the connection", async (t) => {
  const { connect } = await listen(t, { cpuMsPerSecond: 10 });
  const socket = connect();
  socket.write("GET /a HTTP/1.1\r\nhost: a\r\n\r\n".repeat(200));
  const answers = await text(socket).catch(() => "");
  t.ok(answers.split("200 OK").length < 100, "not all are answered");
  t.ok(socket.destroyed || socket.readableEnded);
});

test("a connection may waste a sixteenth of its address's memory", async (t) => {
  for (const [memoryBytesPerAddress, isKept] of [
    [2 ** 20, false],
    [2 ** 24, true],
  ] as const) {
    const { port } = await listen(t, { memoryBytesPerAddress });
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on("error", () => {});
    t.teardown(() => session.destroy());
    for (let count = 0; count < 4 && !session.closed; count += 1) {
      const stream = session.request({ ":method": "POST", ":path": "/answered" });
      stream.on("error", () => {});
      const closed = once(stream.resume(), "close");
      stream.once("response", () => stream.end(Buffer.alloc(50_000)));
      await closed;
    }
    t.equal(!session.closed, isKept);
  }
});

test("a known caller that answers PINGs and reads nothing loses the answer", async (t) => {
  const { port, cut } = await listen(t, {}, 1000);
  const session = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  const stream = session.request({ ":path": "/known" });
  stream.on("error", () => {});
  await once(stream.pause(), "response");
  await new Promise<void>((resolve, reject) => {
    session.ping((error) => (error === null ? resolve() : reject(error)));
  });
  await new Promise((resolve) => stream.once("close", resolve));
  t.equal(stream.rstCode, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  t.same(cut, ["127.0.0.1 its answer was not read in time"]);
  t.notOk(session.destroyed);
});

test("a page counts by its size as CPU time of an address without a login", async (t) => {
  for (const [path, isKept] of [
    ["/page", false],
    ["/a", true],
  ] as const) {
    const { connect } = await listen(t, { cpuMsPerSecond: 50 });
    const socket = connect();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(20));
    socket.write("GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    const answers = await text(socket).catch(() => "");
    t.equal(answers.split("200 OK").length === 22, isKept);
  }
});

test("waiting answers count as memory of an address without a login", async (t) => {
  const { port, cut } = await listen(t, { memoryBytesPerAddress: 2 ** 20 });
  const session = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  const streams = Array.from({ length: 5 }, () => {
    const stream = session.request({ ":path": "/large" });
    stream.on("error", () => {});
    return new Promise((resolve) => stream.pause().once("close", resolve));
  });
  await Promise.race(streams);
  t.match(cut[0], /127\.0\.0\.1 callers without a login use too much memory/);
});

test("new connections of an address without CPU time wait, and those of another are served", async (t) => {
  const { connect, answerOf } = await listen(t, { cpuMsPerSecond: 50 });
  const greedy = connect();
  for (let page = 0; page < 5; page += 1) {
    t.equal(await answerOf(greedy, "/page"), "/page");
  }
  const waiting = connect();
  let hasAnswer = false;
  const answer = answerOf(waiting, "/late").finally(() => {
    hasAnswer = true;
  });
  t.equal(await answerOf(connect("127.0.0.2"), "/b"), "/b", "another address is served");
  t.notOk(hasAnswer, "at that time the first address has none left");
  t.equal(await answer, "/late", "it waits, and is served when its address has CPU time again");
});

test("a login returns the CPU time that its connection has taken", async (t) => {
  // So little that if a connection returns nothing, the next one waits in vain.
  const { connect, answerOf } = await listen(t, { cpuMsPerSecond: 0.001 });
  for (let index = 0; index < 10; index += 1) {
    const socket = connect();
    t.equal(await Promise.race([answerOf(socket, "/known"), once(socket, "close")]), "/known");
    socket.destroy();
  }
});

test("bodies count as CPU time of an address without a login", async (t) => {
  const { connect } = await listen(t, { cpuMsPerSecond: 20 });
  const socket = connect();
  socket.write(`POST /body HTTP/1.1\r\nhost: a\r\ncontent-length: ${2 ** 26}\r\n\r\n`);
  const zeros = Buffer.alloc(2 ** 16);
  const write = () => {
    while (socket.writable && socket.write(zeros)) {}
  };
  socket.resume().on("drain", write);
  write();
  await new Promise((resolve) => socket.once("close", resolve));
  t.ok(socket.bytesWritten < 2 ** 25, `the connection ends after ${socket.bytesWritten} bytes`);
});

test("a connection with TLS waits for room of its address before the handshake", async (t) => {
  const certificate = await createCertificate("localhost");
  const { port, answerOf } = await listen(t, { connectionsPerAddress: 2 }, 30_000, certificate);
  const connect = (localAddress = "127.0.0.1") => {
    const lower = net.connect({ port, host: "127.0.0.1", localAddress });
    const socket = tls.connect({ socket: lower, rejectUnauthorized: false });
    socket.on("error", () => {});
    t.teardown(() => socket.destroy());
    return socket;
  };
  const [first, second] = [connect(), connect()];
  t.equal(await answerOf(first, "/a"), "/a");
  t.equal(await answerOf(second, "/a"), "/a");
  const third = connect();
  let isSecure = false;
  third.once("secureConnect", () => {
    isSecure = true;
  });
  const answer = answerOf(third, "/third");
  t.equal(await answerOf(connect("127.0.0.2"), "/b"), "/b", "another address is served");
  t.notOk(isSecure);
  t.equal(await answerOf(first, "/known"), "/known", "that of a known caller no longer counts");
  t.equal(await answer, "/third");
});
