import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectTcp, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { type Test, test } from "tap";
import { connectToHub } from "../../../server/fleet/agent/connect-to-hub.ts";
import type { StoredMembership } from "../../../server/fleet/agent/enroll.ts";
import { isLongForm } from "../../long-form.ts";
import { connectHost, enrollHost, serveEmptyMessages } from "../../server/fleet/enrolled-host.ts";
import { logIn } from "../../server/fleet/forward/fleet-under-test.ts";
import { freePort } from "../../server/harness/free-port.ts";
import { until } from "../../server/harness/until.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { createMemberProcess } from "./member-process.ts";

/** What a hub's memory may grow by, in bytes. */
const growthBytes = 150 * 1024 * 1024;
const attackBytes = 64 * 1024 * 1024;
const attackMs = isLongForm ? 5000 : 400;

/** An HTTP/2 frame. @param type number of RFC 9113, section 6 */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.byteLength, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const settings = frame(4, 0, 0);
// HPACK: `:status: 200`, `content-type` and a header of 1 KiB.
const ok = frame(1, 4, 1, Buffer.from([0x88]));
const interim = frame(1, 4, 1, Buffer.from([0x08, 3, ...Buffer.from("100")]));
const field = Buffer.concat([Buffer.from([0, 1, 0x61, 0x7f, 0x81, 0x07]), Buffer.alloc(1024, 0x61)]);

/** What a rooted agent sends: once, and then again and again. */
const attacks: Readonly<Record<string, readonly [first: Buffer, repeated: Buffer]>> = {
  "endless headers": [frame(1, 0, 1, Buffer.from([0x88])), frame(9, 0, 1, field)],
  "an endless body": [ok, frame(0, 0, 1, Buffer.alloc(16_384))],
  "endless empty DATA frames": [ok, frame(0, 0, 1)],
  "endless interim responses": [interim, interim],
  "resets of streams": [frame(3, 0, 1, Buffer.alloc(4)), frame(3, 0, 1, Buffer.alloc(4))],
  pushes: [ok, frame(5, 4, 1, Buffer.from([0, 0, 0, 2, 0x82]))],
  "GOAWAY frames": [ok, frame(7, 0, 0, Buffer.alloc(8))],
  "SETTINGS frames": [ok, settings],
  "PING frames": [ok, frame(6, 0, 0, Buffer.alloc(8))],
};

/** Serves a host, and connects it again like an agent: on a busy machine a ping may remain unanswered for too long. */
async function keepServing(t: Test, membership: StoredMembership): Promise<void> {
  let isOver = false;
  t.teardown(() => {
    isOver = true;
  });
  const connection = await connectHost(t, membership);
  serveEmptyMessages(connection);
  connection.once("close", async () => {
    await until(
      async () =>
        isOver ||
        (await keepServing(t, membership).then(
          () => true,
          () => false,
        )),
    );
  });
}

test("a hub serves other hosts while a rooted agent and strangers attack it", async (t) => {
  const directory = await makeDirectory(t);
  const port = await freePort();
  const listen = `127.0.0.1:${port}`;
  const fleet = { hub: { listen, addresses: [listen] } };
  const hub = createMemberProcess(t, directory, { host: "hub-1", fleet });
  await hub.start();
  await keepServing(t, await enrollHost(hub, "node-1"));
  const rooted = await enrollHost(hub, "node-2");
  const authorization = await logIn(hub.url());
  async function assertServed(when: string): Promise<void> {
    let response: Response | undefined;
    // While the host connects again, calls are rejected with 503. The hub may close an idle connection as it is used.
    await until(async () => {
      response = await fetch(`${hub.url()}/hosts/node-1/proto.VGService/GetLVList`, {
        method: "POST",
        headers: { authorization, "content-type": "application/proto" },
      }).catch(() => undefined);
      return response !== undefined && response.status !== 503;
    });
    t.equal(response?.status, 200, `the other host is served ${when}`);
  }
  const residentBytes = () =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${hub.pid()}/status`, "utf8"))?.[1]) * 1024;
  await assertServed("before");
  const beforeBytes = residentBytes();

  for (const [name, [first, repeated]] of Object.entries(attacks)) {
    let connection = await connectHost(t, rooted).catch(() => undefined);
    await until(async () => {
      connection ??= await connectHost(t, rooted).catch(() => undefined);
      return connection !== undefined;
    });
    const attacker = connection as Socket;
    attacker.resume();
    attacker.write(Buffer.concat([settings, frame(4, 1, 0)]));
    await delay(100);
    attacker.write(first);
    const block = Buffer.concat(Array.from({ length: Math.ceil(65_536 / repeated.length) }, () => repeated));
    const endsAtMs = performance.now() + attackMs;
    let sentBytes = 0;
    while (!attacker.destroyed && sentBytes < attackBytes && performance.now() < endsAtMs) {
      sentBytes += block.byteLength;
      if (!attacker.write(block)) {
        await until(() => !attacker.writableNeedDrain || attacker.destroyed || performance.now() > endsAtMs);
      }
    }
    t.comment(
      `${name}: ${sentBytes >> 10} KiB, ${attacker.destroyed ? "closed" : "open"}, ${residentBytes() >> 20} MiB`,
    );
    await assertServed(`beside ${name}`);
    attacker.destroy();
  }

  const strangers = Array.from({ length: 500 }, (_, at) => {
    const socket = at % 2 === 0 ? connectTcp(port, "127.0.0.1") : connectBare(port);
    return socket.on("error", () => {});
  });
  for (const [at, socket] of strangers.entries()) {
    socket.write(at % 4 === 0 ? Buffer.alloc(4096, at) : upgradeRequest);
  }
  await assertServed("beside 500 strangers");
  await delay(500);
  t.ok(residentBytes() - beforeBytes < growthBytes, "the memory of the hub is bounded");
  for (const socket of strangers) {
    socket.destroy();
  }
});

test("an agent refuses a hub that shows the certificate of an agent", async (t) => {
  const directory = await makeDirectory(t);
  const listen = `127.0.0.1:${await freePort()}`;
  const hub = createMemberProcess(t, directory, {
    host: "hub-1",
    fleet: { hub: { listen, addresses: [listen] } },
  });
  await hub.start();
  const [rooted, other] = [await enrollHost(hub, "node-1"), await enrollHost(hub, "node-2")];
  const server = createTlsServer({ cert: rooted.certificatePem, key: rooted.privateKeyPem });
  server.on("tlsClientError", () => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => void server.close());
  const { port } = server.address() as { readonly port: number };
  const connecting = connectToHub(`127.0.0.1:${port}`, other, "0.1.0", new AbortController().signal);
  await t.rejects(connecting, /certificate|purpose|issuer/);
});

const upgradeRequest = "GET /fleet/link HTTP/1.1\r\nconnection: Upgrade\r\nupgrade: hostplane-link/1\r\n\r\n";

/** Connects without a certificate. */
function connectBare(port: number): Socket {
  return connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
}
