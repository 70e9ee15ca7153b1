import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http2, {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
} from "node:http2";
import net, { type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { createAuthorityRewriter } from "../../../../../server/rpc/listener/http2-authority/authority-rewriter.ts";
import { isAuthorityByte } from "../../../../../server/rpc/listener/http2-authority/hpack-authority.ts";
import { clientPreface, cut, frame } from "./frames.ts";

const path = "/run/topolvm/lvmd.sock";
const replaced = "-run-topolvm-lvmd.sock";

/** Creates a directory in the system's temporary one: a socket's path has at most 107 characters, and tap's are longer. */
async function makeDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

interface Server {
  readonly socketPath: string;
  /** The server's end of each connection. */
  readonly connections: { readonly socket: Socket; readonly given: Duplex }[];
  readonly sessions: ServerHttp2Session[];
  readonly sessionErrors: Error[];
}

/** Starts an HTTP/2 server on a unix socket that answers with the request's body and the received authority. */
async function startEcho(t: Test, wrap: (socket: Socket) => Duplex): Promise<Server> {
  const server: Server = {
    socketPath: `${await makeDirectory(t)}/s`,
    connections: [],
    sessions: [],
    sessionErrors: [],
  };
  const h2 = http2.createServer({ settings: { maxHeaderListSize: 262_144 } });
  h2.on("session", (session) => {
    server.sessions.push(session);
  });
  h2.on("sessionError", (error) => server.sessionErrors.push(error));
  h2.on("stream", (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on("error", () => {});
    stream.respond(
      { ":status": 200, "saw-authority": headers[":authority"], "saw-big": String(headers.big?.length ?? 0) },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => stream.sendTrailers({ "saw-end": "yes" }));
    stream.pipe(stream);
  });
  const listener = net.createServer({ allowHalfOpen: true }, (socket) => {
    const given = wrap(socket);
    server.connections.push({ socket, given });
    h2.emit("connection", given);
  });
  listener.listen(server.socketPath);
  await once(listener, "listening");
  t.teardown(() => {
    for (const session of server.sessions) {
      session.destroy();
    }
    for (const { socket } of server.connections) {
      socket.destroy();
    }
    listener.close();
  });
  return server;
}

function connect(t: Test, { socketPath }: Server): ClientHttp2Session {
  const session = http2.connect("http://localhost", {
    createConnection: () => net.connect(socketPath),
    // For the client's own queue: with Node's 10 MB it refuses to open streams for larger bodies at once.
    maxSessionMemory: 100,
  });
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  return session;
}

async function call(session: ClientHttp2Session, headers: object, body: Buffer) {
  const stream = session.request({ ":method": "POST", ":path": "/a/b", ...headers });
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (received) => {
    trailers = received;
  });
  const response = once(stream, "response") as Promise<[IncomingHttpHeaders]>;
  stream.end(body);
  const [[answer], echoed] = await Promise.all([response, buffer(stream)]);
  return { sawAuthority: answer["saw-authority"], sawBig: answer["saw-big"], trailers, echoed };
}

/** Waits for "close". Not events.once(), which rejects on "error": a raw socket emits one when its client leaves. */
function closed(stream: Duplex): Promise<unknown> {
  return stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once("close", resolve));
}

test("without it Node resets every request whose authority is a path", async (t) => {
  const session = connect(t, await startEcho(t, (socket) => socket));
  await t.rejects(call(session, { ":authority": path }, Buffer.alloc(0)), /NGHTTP2_PROTOCOL_ERROR/);
  t.equal((await call(session, { ":authority": replaced }, Buffer.alloc(0))).sawAuthority, replaced);
});

test("the bytes it keeps are exactly those that Node accepts", async (t) => {
  const { socketPath } = await startEcho(t, (socket) => socket);
  const client = net.connect(socketPath);
  t.teardown(() => client.destroy());
  client.write(clientPreface);
  // Stream 2n+1 has the authority "a<byte n>b"; :method POST, :scheme http, :path / are indexed.
  const requests = Array.from({ length: 256 }, (_, byte) =>
    frame(1, 5, 2 * byte + 1, Buffer.of(0x83, 0x86, 0x84, 0x01, 3, 0x61, byte, 0x62)),
  );
  client.write(Buffer.concat(requests));
  const accepted = new Map<number, boolean>();
  let received = Buffer.alloc(0);
  for await (const chunk of client) {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      const byte = (received.readUInt32BE(5) - 1) / 2;
      if (received[3] === 3 && !accepted.has(byte)) {
        accepted.set(byte, false);
      }
      if (received[3] === 1) {
        accepted.set(byte, true);
      }
      received = received.subarray(9 + received.readUIntBE(0, 3));
    }
    if (accepted.size === 256) {
      break;
    }
  }
  for (const [byte, isAccepted] of accepted) {
    t.equal(isAuthorityByte(byte), isAccepted, JSON.stringify(String.fromCharCode(byte)));
  }
});

test("every request of a connection is served, whether its authority is spelled out or indexed", async (t) => {
  const session = connect(t, await startEcho(t, createAuthorityRewriter));
  for (const body of ["one", "two", "three"]) {
    const { sawAuthority, echoed, trailers } = await call(session, { ":authority": path }, Buffer.from(body));
    t.equal(sawAuthority, replaced);
    t.equal(echoed.toString(), body);
    t.equal(trailers["saw-end"], "yes");
  }
  t.equal(
    (await call(session, { ":authority": "localhost:1" }, Buffer.alloc(0))).sawAuthority,
    "localhost:1",
  );
  t.equal((await call(session, { ":authority": "a@{/é" }, Buffer.alloc(0))).sawAuthority, "a----");
  t.equal((await call(session, { ":authority": path }, Buffer.alloc(0))).sawAuthority, replaced);
});

test("the dynamic tables stay equal when they overflow", async (t) => {
  const session = connect(t, await startEcho(t, createAuthorityRewriter));
  // Each authority is a new entry. The table holds 4096 bytes, so old ones are evicted all the time.
  for (let i = 0; i < 200; i++) {
    const authority = `${path}{${"\\".repeat(i % 50)}/${i % 70}`;
    const { sawAuthority } = await call(
      session,
      { ":authority": authority, [`x-${i % 9}`]: `v${i % 31}` },
      Buffer.of(1),
    );
    if (sawAuthority !== authority.replaceAll(/[^a-z0-9.]/g, "-")) {
      t.fail(`${authority} became ${sawAuthority}`);
    }
  }
});

test("headers that need CONTINUATION frames arrive", async (t) => {
  const session = connect(t, await startEcho(t, createAuthorityRewriter));
  for (const length of [10, 16_000, 16_384, 40_000]) {
    const { sawAuthority, sawBig } = await call(
      session,
      { big: "/".repeat(length), ":authority": path },
      Buffer.alloc(0),
    );
    t.equal(sawAuthority, replaced);
    t.equal(sawBig, String(length));
  }
});

test("many streams at once, with 1 MB both ways each, keep their bytes", async (t) => {
  const session = connect(t, await startEcho(t, createAuthorityRewriter));
  const bodies = Array.from({ length: 12 }, () => randomBytes(1024 * 1024));
  const answers = await Promise.all(bodies.map((body) => call(session, { ":authority": path }, body)));
  t.ok(answers.every(({ echoed }, index) => bodies[index]?.equals(echoed)));
});

test("a client that sends byte by byte is served", async (t) => {
  const { socketPath } = await startEcho(t, createAuthorityRewriter);
  const authority = Buffer.concat([Buffer.of(0x41, path.length), Buffer.from(path)]);
  const bytes = Buffer.concat([
    clientPreface,
    frame(
      1,
      0x28,
      1,
      Buffer.concat([Buffer.of(1, 0, 0, 0, 0, 9, 0x83), authority.subarray(0, 9), Buffer.of(0)]),
    ),
    frame(9, 0, 1, authority.subarray(9)),
    frame(9, 4, 1, Buffer.of(0x86, 0x84)),
  ]);
  const client = net.connect(socketPath);
  t.teardown(() => client.destroy());
  client.setNoDelay(true);
  let received = "";
  client.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
  });
  for (const byte of cut(bytes, [...bytes.keys()])) {
    client.write(byte);
    await sleep(0);
  }
  client.write(frame(0, 1, 1, Buffer.from("body")));
  while (!received.includes("body")) {
    await once(client, "data");
  }
  t.match(received, "body");
});

test("bytes that are not HTTP/2 end the connection, not the process", async (t) => {
  const { socketPath } = await startEcho(t, createAuthorityRewriter);
  for (const bytes of [randomBytes(100_000), Buffer.concat([clientPreface, randomBytes(100_000)])]) {
    const client = net.connect(socketPath, () => client.write(bytes));
    client.on("error", () => {});
    client.resume();
    await closed(client);
  }
  t.pass("both were closed");
});

test("when one side closes, nothing of the connection is left", async (t) => {
  const server = await startEcho(t, createAuthorityRewriter);
  const endings: [string, (session: ClientHttp2Session, served: ServerHttp2Session) => void][] = [
    ["client closes", (session) => session.close()],
    ["client destroys", (session) => session.destroy()],
    ["server closes", (_, served) => served.close()],
    ["server destroys", (_, served) => served.destroy()],
  ];
  for (const [what, end] of endings) {
    const session = connect(t, server);
    await call(session, { ":authority": path }, Buffer.of(1));
    const connection = server.connections.at(-1);
    const served = server.sessions.at(-1);
    if (connection === undefined || served === undefined) {
      throw new Error("no connection");
    }
    end(session, served);
    await Promise.all([closed(connection.socket), closed(connection.given)]);
    t.ok(served.destroyed && connection.socket.destroyed && connection.given.destroyed, what);
  }
  t.same(server.sessionErrors, []);
});

/** Opens a plain socket and its client, without an HTTP/2 server. */
async function startSockets(t: Test): Promise<{ client: Socket; socket: Socket }> {
  const socketPath = `${await makeDirectory(t)}/s`;
  const listener = net.createServer({ allowHalfOpen: true }).listen(socketPath);
  await once(listener, "listening");
  const client = net.connect({ path: socketPath, allowHalfOpen: true });
  const [socket] = (await once(listener, "connection")) as [Socket];
  t.teardown(() => {
    client.destroy();
    socket.destroy();
    listener.close();
  });
  return { client, socket };
}

async function startPair(t: Test): Promise<{ client: Socket; socket: Socket; rewriter: Duplex }> {
  const { client, socket } = await startSockets(t);
  return { client, socket, rewriter: createAuthorityRewriter(socket) };
}

test("a paused socket whose first bytes were put back is read from those bytes on", async (t) => {
  const { client, socket } = await startSockets(t);
  client.write(clientPreface.subarray(0, 5));
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  socket.unshift(first);
  client.end(clientPreface.subarray(5));
  t.ok((await buffer(createAuthorityRewriter(socket))).equals(clientPreface));
});

test("a reader that does not read holds the client back", async (t) => {
  const { client, socket, rewriter } = await startPair(t);
  const body = Buffer.concat([clientPreface, frame(0, 0, 1, randomBytes(8 * 1024 * 1024))]);
  client.end(body);
  rewriter.read(0);
  await sleep(200);
  t.ok(socket.bytesRead < 1024 * 1024, `${socket.bytesRead} bytes read`);
  t.ok((await buffer(rewriter)).equals(body));
});

test("a client that does not read holds the writer back", async (t) => {
  const { client, rewriter } = await startPair(t);
  client.pause();
  const body = randomBytes(1024 * 1024);
  let written = 0;
  for (let i = 0; i < 16; i++) {
    rewriter.write(body, () => written++);
  }
  t.equal(rewriter.write(body), false);
  await sleep(200);
  t.ok(written < 3, `${written} writes done`);
  rewriter.end();
  t.equal((await buffer(client)).length, 17 * body.length);
  t.equal(written, 16);
});

/** Reads everything until the other side ends. `buffer()` of Node 26 would then also destroy the writable side. */
async function readToEnd(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(stream, "end");
  return Buffer.concat(chunks);
}

test("either side can end and still receive", async (t) => {
  const first = await startPair(t);
  first.client.end(clientPreface);
  t.ok((await readToEnd(first.rewriter)).equals(clientPreface));
  first.rewriter.end("answer");
  t.equal((await readToEnd(first.client)).toString(), "answer");
  await Promise.all([closed(first.rewriter), closed(first.socket)]);

  const second = await startPair(t);
  second.rewriter.end("bye");
  t.equal((await readToEnd(second.client)).toString(), "bye");
  // A frame that is never completed is passed on too.
  const cutFrame = Buffer.concat([clientPreface, frame(1, 4, 1, Buffer.alloc(99)).subarray(0, 50)]);
  second.client.end(cutFrame);
  t.ok((await readToEnd(second.rewriter)).equals(cutFrame));
  await Promise.all([closed(second.rewriter), closed(second.socket)]);
});

test("errors and destroy reach the other side", async (t) => {
  const first = await startPair(t);
  first.rewriter.destroy();
  await Promise.all([closed(first.socket), once(first.client.resume(), "end")]);

  const second = await startPair(t);
  const failed = once(second.rewriter, "error");
  second.socket.destroy(new Error("cable cut"));
  t.match(await failed, [{ message: "cable cut" }]);
  await closed(second.rewriter);

  const third = await startPair(t);
  third.rewriter
    .resume()
    .on("error", (error) => t.fail(`a client that left causes no error: ${error.message}`));
  third.client.destroy();
  await once(third.rewriter, "end");
  third.rewriter.write(Buffer.alloc(1024 * 1024));
  await Promise.all([closed(third.rewriter), closed(third.socket)]);
});
