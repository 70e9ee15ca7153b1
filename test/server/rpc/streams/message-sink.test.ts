import { once } from "node:events";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as https from "node:https";
import type { AddressInfo, Server } from "node:net";
import type { Readable } from "node:stream";
import { type Test, test } from "tap";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { NodeResponse } from "../../../../server/rpc/protocols/http/http-exchange.ts";
import { type ClosableSink, createMessageSink } from "../../../../server/rpc/streams/message-sink.ts";
import { envelopesFrom } from "../../harness/envelopes.ts";
import { createCertificate } from "../listener/certificate.ts";
import { sharedHeartbeat } from "./sink-under-test.ts";

const certificate = await createCertificate("localhost");

/** A response body at its client, not read yet. */
interface Body {
  readonly stream: Readable;
  /** Returns the error code of an HTTP/2 stream that was reset. */
  resetBy(): number | undefined;
  leave(): void;
}

interface Transport {
  readonly name: string;
  createServer(): Server;
  request(port: number): Promise<Body>;
}

function http1(isTls: boolean): Transport {
  return {
    name: isTls ? "HTTP/1.1 with TLS" : "HTTP/1.1",
    createServer: () => (isTls ? https.createServer(certificate) : http.createServer()),
    async request(port) {
      const { request } = isTls ? https : http;
      const sent = request({ port, host: "127.0.0.1", agent: false, rejectUnauthorized: false });
      sent.on("error", () => {});
      sent.end();
      const [stream] = (await once(sent, "response")) as [http.IncomingMessage];
      stream.on("error", () => {});
      return { stream, resetBy: () => undefined, leave: () => void sent.destroy() };
    },
  };
}

function http2With(isTls: boolean): Transport {
  return {
    name: isTls ? "HTTP/2 with TLS" : "HTTP/2",
    createServer: () => (isTls ? http2.createSecureServer(certificate) : http2.createServer()),
    async request(port) {
      const url = `${isTls ? "https" : "http"}://127.0.0.1:${port}`;
      const session = http2.connect(url, { rejectUnauthorized: false });
      session.on("error", () => {});
      const stream = session.request({ ":method": "POST", ":path": "/" });
      stream.on("error", () => {});
      stream.on("close", () => session.destroy());
      stream.end();
      await once(stream, "response");
      return { stream, resetBy: () => stream.rstCode, leave: () => session.destroy() };
    },
  };
}

const transports = [http1(false), http1(true), http2With(false), http2With(true)];

interface Opened {
  readonly response: NodeResponse;
  readonly sink: ClosableSink;
  readonly body: Body;
  readonly errors: readonly InfraError[];
}

/** Opens a sink on a response of a server of the transport, with the client's end of it. */
async function openSink(
  t: Test,
  transport: Transport,
  limits: Partial<Parameters<typeof createMessageSink>[2]> = {},
): Promise<Opened> {
  const server = transport.createServer();
  server.on("sessionError", () => {});
  const arrived = once(server, "request");
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const requested = transport.request((server.address() as AddressInfo).port);
  const [, response] = (await arrived) as [unknown, NodeResponse];
  response.writeHead(200, { "content-type": "application/grpc" });
  response.write(Buffer.alloc(5));
  const body = await requested;
  t.teardown(() => {
    body.leave();
    server.close();
  });
  const errors: InfraError[] = [];
  const sink = createMessageSink(
    response,
    "binary",
    { maxUnsentBytes: 1 << 20, maxMessageBytes: 4 << 20, lingerMs: 60_000, ...limits },
    (error) => errors.push(error),
  );
  return { response, sink, body, errors };
}

const kilobyte = sharedHeartbeat("x".repeat(1_000));
const frameBytes = kilobyte.encoded("binary").frame.byteLength;

/** Writes until the sink is full. Returns how many messages it accepted. */
async function fill(sink: ClosableSink): Promise<number> {
  let count = 0;
  // Data in the kernel's buffers, or within the window, counts as sent: 20 MB exceed both and the limit.
  while (count < 20_000 && sink.write(kilobyte)) {
    count += 1;
    if (count % 100 === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return count;
}

for (const transport of transports) {
  const { name } = transport;

  test(`${name}: a client that reads nothing has a bounded amount waiting, all of which it gets later`, async (t) => {
    const { response, sink, body } = await openSink(t, transport);
    const written = await fill(sink);
    t.ok(written < 20_000, `${written} messages were accepted`);
    const { unsentBytes } = sink;
    t.ok(unsentBytes > 1 << 20 && unsentBytes <= (1 << 20) + 2 * frameBytes, `${unsentBytes} bytes wait`);
    t.equal(sink.write(kilobyte), false, "and no more");
    sink.close();
    response.end();
    const chunks: Buffer[] = await body.stream.toArray();
    const envelopes = envelopesFrom(Buffer.concat(chunks));
    t.equal(envelopes.length, 1 + written, "every message has arrived");
    t.ok(envelopes.slice(1).every(({ flags, data }) => flags === 0 && data.byteLength === frameBytes - 5));
    t.equal(sink.unsentBytes, 0);
  });

  test(`${name}: after a client has left nothing is written to it, and writing does no harm`, async (t) => {
    const { response, sink, body } = await openSink(t, transport);
    await fill(sink);
    const closed = once(response, "close");
    body.leave();
    // During some of these writes the client has left, but Node has not noticed yet.
    while (!(response.stream ?? response).destroyed) {
      sink.write(kilobyte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    t.equal(sink.write(kilobyte), false);
    t.equal(sink.unsentBytes, 0, "nothing is kept for it");
    sink.close();
  });

  test(`${name}: a client that does not read the rest of an ended call is cut`, async (t) => {
    const { response, sink, body } = await openSink(t, transport, { lingerMs: 50 });
    await fill(sink);
    const closed = once(response, "close");
    sink.close();
    response.end();
    t.equal(sink.write(kilobyte), false, "a closed sink writes nothing");
    await closed;
    // Node drops pending data a moment later.
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(sink.unsentBytes, 0, "nothing is kept for it");
    // Not `once` of node:events, which rejects because of the preceding error.
    await new Promise((resolve) => body.stream.resume().once("close", resolve));
    if (name.startsWith("HTTP/2")) {
      t.equal(body.resetBy(), http2.constants.NGHTTP2_ENHANCE_YOUR_CALM, "it gets the reason");
    }
  });

  test(`${name}: a message above the limit ends the call`, async (t) => {
    const { sink, errors } = await openSink(t, transport, { maxMessageBytes: frameBytes - 6 });
    t.equal(sink.write(sharedHeartbeat("short")), true);
    t.equal(sink.write(kilobyte), false);
    t.match(errors, [{ reason: "MESSAGE_TOO_LARGE" }]);
  });
}
