import * as http2 from "node:http2";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { LVService, VGService, type WatchResponse } from "../../../gen/proto/lvmd_pb.ts";
import { envelopesFrom } from "../harness/envelopes.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { type Protocol, streamProtocols } from "../harness/protocols.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";

const gib = 2n ** 30n;

interface Watcher {
  readonly name: string;
  next(): Promise<WatchResponse>;
  /** Reads until the reported free space has this value. */
  until(freeBytes: bigint): Promise<void>;
  stop(): void;
}

function watch(t: Test, url: string, protocol: Protocol): Watcher {
  const leaving = new AbortController();
  const { signal } = leaving;
  const stop = () => leaving.abort();
  t.teardown(stop);
  const client = createClient(VGService, protocol.createTransport(url));
  const messages = client.watch({}, { signal })[Symbol.asyncIterator]();
  const next = async () => {
    const result = await messages.next();
    if (result.done === true) {
      throw new Error(`the Watch by ${protocol.name} ended`);
    }
    return result.value;
  };
  const until = async (freeBytes: bigint) => {
    while ((await next()).freeBytes !== freeBytes) {}
  };
  return { name: protocol.name, next, until, stop };
}

test("Watch sends headers and the first message at once", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const protocol of streamProtocols) {
    const leaving = new AbortController();
    const client = createClient(VGService, protocol.createTransport(url));
    let headersAtMs = Number.POSITIVE_INFINITY;
    const startedAtMs = performance.now();
    const onHeader = () => {
      headersAtMs = performance.now();
    };
    for await (const message of client.watch({}, { signal: leaving.signal, onHeader })) {
      t.match(message, { freeBytes: 8n * gib, items: [{ deviceClass: "sandbox-ssd" }] }, protocol.name);
      break;
    }
    leaving.abort();
    t.ok(headersAtMs - startedAtMs < 10_000, `headers after ${headersAtMs - startedAtMs} ms`);
    t.ok(performance.now() - startedAtMs < 10_000, "the message comes with them");
  }
});

test("every watcher over every protocol gets the newest state after each change", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const watchers = [...streamProtocols, ...streamProtocols].map((protocol) => watch(t, url, protocol));
  const allSee = (freeBytes: bigint) => Promise.all(watchers.map((watcher) => watcher.until(freeBytes)));
  await allSee(8n * gib);
  const volumes = createClient(LVService, createGrpcTransport({ baseUrl: url }));
  await volumes.createLV({ name: "a", sizeGb: 1n });
  await allSee(7n * gib);
  await volumes.resizeLV({ name: "a", sizeGb: 3n });
  await allSee(5n * gib);
  await volumes.removeLV({ name: "a" });
  await allSee(8n * gib);
  const again = Promise.all(watchers.map((watcher) => watcher.next()));
  await volumes.resizeLV({ name: "sandbox-web", sizeGb: 2n });
  t.equal((await again).length, watchers.length, "a resize to the same size is sent too");
});

/** Opens a Watch over HTTP/2 that is not read until `read` is called. */
async function watchWithoutReading(t: Test, url: string) {
  // A message has about 60 bytes, so the window is full after the first.
  const session = http2.connect(url, { settings: { initialWindowSize: 64 } });
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/proto.VGService/Watch",
    "content-type": "application/connect+json",
  });
  stream.on("error", () => {});
  stream.end(encodeEnvelope(0, Buffer.from("{}")));
  await new Promise((resolve) => stream.once("response", resolve));
  return {
    async read(untilText: string): Promise<string[]> {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) {
        chunks.push(chunk);
        if (Buffer.concat(chunks).includes(untilText)) {
          break;
        }
      }
      return envelopesFrom(Buffer.concat(chunks)).map(({ data }) => data.toString());
    },
  };
}

test("a watcher that pauses gets only the newest state when it reads again", async (t) => {
  // The changes may take a busy machine longer than a client may pause.
  const { url } = await startGatewayUnderTest(t, { limits: { writeTimeoutMs: 3_600_000 } });
  const watchers = await Promise.all([1, 2, 3].map(() => watchWithoutReading(t, url)));
  const volumes = createClient(LVService, createGrpcTransport({ baseUrl: url }));
  const change = async (times: number) => {
    for (let count = 0; count < times; count += 1) {
      await volumes.createLV({ name: "a", sizeGb: 1n });
      await volumes.removeLV({ name: "a" });
    }
  };
  await change(100);
  await volumes.createLV({ name: "last", sizeGb: 4n });
  for (const watcher of watchers) {
    const messages = await watcher.read(String(4n * gib));
    t.ok(messages.length <= 5, `${messages.length} of 202 states were buffered`);
  }
});

test("a closing gateway ends all streams quickly with SHUTTING_DOWN", async (t) => {
  const { url, gateway } = await startGatewayUnderTest(t);
  const watchers = [1, 2, 3].flatMap(() => streamProtocols.map((protocol) => watch(t, url, protocol)));
  await Promise.all(watchers.map((watcher) => watcher.next()));
  const errors = watchers.map((watcher) => rpcErrorOf(watcher.until(-1n)));
  const startedAtMs = performance.now();
  await gateway.close();
  t.ok(performance.now() - startedAtMs < 10_000, `closed after ${performance.now() - startedAtMs} ms`);
  for (const [index, error] of (await Promise.all(errors)).entries()) {
    const expected = { code: "UNAVAILABLE", reason: "SHUTTING_DOWN", domain: "hostplane" };
    t.match(error, expected, watchers[index]?.name ?? "");
  }
});
