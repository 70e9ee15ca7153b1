import { once } from "node:events";
import * as http2 from "node:http2";
import * as net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, t as tap, test } from "tap";
import { LVService, VGService, type WatchResponse } from "../../../gen/proto/lvmd_pb.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { streamProtocols } from "../harness/protocols.ts";

const gib = 2n ** 30n;

// The tests wait for seconds and need no CPU.
tap.jobs = 3;
const together = { buffered: true };
const keepAliveMs = 1_000;

/** Collects the messages of a Watch until it is stopped. */
function collect(
  t: Test,
  url: string,
  { name, httpVersion, createTransport }: (typeof streamProtocols)[number],
) {
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const messages: WatchResponse[] = [];
  let error: unknown;
  const watch = async () => {
    const client = createClient(VGService, createTransport(url));
    for await (const message of client.watch({}, { signal: leaving.signal })) {
      messages.push(message);
    }
  };
  watch().catch((thrown) => {
    error = thrown;
  });
  return { name, httpVersion, messages, errorOf: () => error };
}

test(
  "an idle stream repeats its last message over HTTP/1.1, and is silent over HTTP/2",
  together,
  async (t) => {
    const { url } = await startGatewayUnderTest(t, { keepAliveMs });
    // The very first watcher would get its state twice, because its own read fills the snapshot.
    await createClient(VGService, createGrpcTransport({ baseUrl: url })).getFreeBytes({});
    const watchers = streamProtocols.map((protocol) => collect(t, url, protocol));
    const beganMs = performance.now();
    const repeated = watchers.filter(({ httpVersion }) => httpVersion === "1.1");
    while (repeated.some(({ messages }) => messages.length < 3)) {
      await sleep(keepAliveMs / 10);
    }
    const most = 1 + Math.ceil((performance.now() - beganMs) / keepAliveMs);
    for (const { name, httpVersion, messages } of watchers) {
      if (httpVersion === "1.1") {
        t.ok(messages.length <= most, `${name}: ${messages.length} messages`);
      } else {
        t.equal(messages.length, 1, name);
      }
      t.same(new Set(messages.map(({ freeBytes }) => freeBytes)), new Set([8n * gib]));
    }
  },
);

test("an idle HTTP/2 connection gets PINGs", together, async (t) => {
  const { url } = await startGatewayUnderTest(t, { keepAliveMs });
  const session = http2.connect(url);
  t.teardown(() => session.destroy());
  await once(session, "ping");
  await once(session, "ping");
  t.pass("one PING after another");
});

/** Starts a proxy that cuts connections after `idleMs` without data in either direction. */
async function startImpatientProxy(t: Test, target: string, idleMs: number): Promise<string> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    const cut = setTimeout(() => client.destroy(), idleMs);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", () => cut.refresh());
      from.on("error", () => {});
      from.on("close", () => {
        clearTimeout(cut);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

test("a silent Watch outlives a proxy that cuts idle connections", together, async (t) => {
  const { url } = await startGatewayUnderTest(t, { keepAliveMs });
  // A busy machine delays what the gateway repeats, so the proxy waits for several of its intervals.
  const proxyUrl = await startImpatientProxy(t, url, 4 * keepAliveMs);
  const idle = net.connect(Number(new URL(proxyUrl).port), "127.0.0.1");
  let isCut = false;
  idle.on("close", () => {
    isCut = true;
  });
  const watchers = streamProtocols.map((protocol) => collect(t, proxyUrl, protocol));
  await sleep(6 * keepAliveMs);
  t.ok(isCut, "the proxy does cut idle connections");
  const volumes = createClient(LVService, createGrpcTransport({ baseUrl: url }));
  await volumes.createLV({ name: "a", sizeGb: 3n });
  for (const { name, messages, errorOf } of watchers) {
    while (errorOf() === undefined && messages.at(-1)?.freeBytes !== 5n * gib) {
      await sleep(keepAliveMs / 10);
    }
    t.equal(errorOf(), undefined, `${name} continues, and receives the change`);
  }
});
