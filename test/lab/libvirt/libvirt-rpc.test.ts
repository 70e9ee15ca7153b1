import { createHash, type Hash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Test, test } from "tap";
import { createLibvirtClient, type LibvirtClient } from "../../../adapters/libvirt/rpc/client.ts";
import type { LibvirtEvent } from "../../../adapters/libvirt/rpc/events.ts";
import { parseLibvirtUri } from "../../../adapters/libvirt/rpc/uri.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { type LibvirtDaemon, libvirtSkipReason, startLibvirt } from "./libvirt.ts";

const skip = libvirtSkipReason();
const mebibyte = 1 << 20;
const sizeBytes = 64 * mebibyte;
const all = { needResults: true, flags: 0 } as const;

async function start(t: Test): Promise<{ daemon: LibvirtDaemon; client: LibvirtClient }> {
  const daemon = await startLibvirt(t);
  return { daemon, client: await connect(t, parseLibvirtUri(daemon.uri)) };
}

async function connect(t: Test, address: { socketPath: string; uri: string }): Promise<LibvirtClient> {
  const client = createLibvirtClient({ ...address, reconnectMs: 50 });
  t.teardown(client.close);
  await client.ready();
  return client;
}

/** Collects all events, and waits for further ones. */
function watchEvents(client: LibvirtClient) {
  const seen: LibvirtEvent[] = [];
  const listeners = new Set<() => void>();
  client.subscribe((event) => {
    seen.push(event);
    for (const listener of [...listeners]) {
      listener();
    }
  });
  return {
    seen,
    until: (matches: (event: LibvirtEvent) => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (seen.some(matches)) {
            listeners.delete(check);
            resolve();
          }
        };
        listeners.add(check);
        check();
      }),
  };
}

function domainXml(name: string): string {
  return `<domain type="qemu"><name>${name}</name><memory unit="MiB">32</memory>
    <os><type arch="x86_64">hvm</type></os></domain>`;
}

async function makePool(client: LibvirtClient, { poolsDirectory }: LibvirtDaemon) {
  const xml = `<pool type="dir"><name>pool</name><target><path>${poolsDirectory}</path></target></pool>`;
  const { pool } = await client.call("storagePoolDefineXml", { xml, flags: 0 });
  await client.call("storagePoolCreate", { pool, flags: 0 });
  const volumeXml = `<volume><name>data</name><capacity>${sizeBytes}</capacity></volume>`;
  const { vol } = await client.call("storageVolCreateXml", { pool, xml: volumeXml, flags: 0 });
  return { pool, vol };
}

/** Returns the memory of live buffers. */
function liveBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().arrayBuffers;
}

async function* randomData(hash: Hash): AsyncGenerator<Uint8Array> {
  for (let left = sizeBytes; left > 0; left -= mebibyte) {
    const piece = randomBytes(mebibyte);
    hash.update(piece);
    yield piece;
  }
}

test("a VM is defined, started, destroyed and undefined, and every step causes an event", {
  skip,
}, async (t) => {
  const { daemon, client } = await start(t);
  const events = watchEvents(client);
  const { domain } = await client.call("domainDefineXmlFlags", { xml: domainXml("vm"), flags: 0 });
  t.equal(await reasonOf(client.call("domainDestroyFlags", { domain, flags: 0 })), "DOMAIN_STATE");
  const running = await client.call("domainCreateWithFlags", { domain, flags: 0 });
  t.equal(await reasonOf(client.call("domainCreateWithFlags", { domain, flags: 0 })), "DOMAIN_STATE");
  t.ok(running.domain.id > 0);
  t.match(await client.call("domainGetState", { domain, flags: 0 }), { state: 1 });
  t.match(await client.call("connectListAllDomains", all), { domains: [running.domain], count: 1 });
  const { records } = await client.call("connectGetAllDomainStats", { domains: [], stats: 0, flags: 0 });
  t.match(
    records[0]?.params.find(({ field }) => field === "balloon.maximum"),
    { value: { type: "ullong", value: 32_768n } },
  );
  const conflict = domainXml("vm").replace(
    "</name>",
    "</name><uuid>0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9</uuid>",
  );
  t.equal(await reasonOf(client.call("domainDefineXmlFlags", { xml: conflict, flags: 0 })), "DOMAIN_EXISTS");

  // As if from a shell.
  const requestedAtMs = performance.now();
  const stopped = events.until((event) => event.kind === "domainLifecycle" && event.event === "stopped");
  await Promise.all([daemon.virsh("destroy", "vm"), stopped]);
  t.comment(`destroyed by virsh in ${Math.round(performance.now() - requestedAtMs)} ms`);
  await client.call("domainUndefineFlags", { domain, flags: 0 });
  await events.until((event) => event.kind === "domainLifecycle" && event.event === "undefined");
  const steps = events.seen.flatMap((event) => (event.kind === "domainLifecycle" ? [event.event] : []));
  // QEMU may exit before it reports the shutdown request.
  t.same(
    steps.filter((step) => step !== "shutdown"),
    ["defined", "resumed", "started", "stopped", "undefined"],
  );
  t.equal(await reasonOf(client.call("domainLookupByName", { name: "vm" })), "DOMAIN_NOT_FOUND");
});

test("64 MiB are uploaded and downloaded unchanged, in bounded memory, while calls get responses", {
  skip,
}, async (t) => {
  const { daemon, client } = await start(t);
  const { pool, vol } = await makePool(client, daemon);
  t.match(await client.call("storageVolGetInfo", { vol }), { capacity: BigInt(sizeBytes) });
  const range = { vol, offset: 0n, length: 0n, flags: 0 };
  const sent = createHash("sha256");
  await client.upload(range, randomData(sent));

  const received = createHash("sha256");
  let bytes = 0;
  let mostBytes = 0;
  const beforeBytes = liveBytes();
  for await (const piece of client.download(range)) {
    received.update(piece);
    bytes += piece.length;
    if (bytes % (8 * mebibyte) < piece.length) {
      // Reads slowly, long enough for all the rest to arrive meanwhile.
      await client.call("connectGetHostname", {});
      await sleep(100);
      mostBytes = Math.max(mostBytes, liveBytes() - beforeBytes);
    }
  }
  t.equal(bytes, sizeBytes);
  t.equal(received.digest("hex"), sent.digest("hex"));
  // Collected buffers count until they are swept, which V8 does concurrently.
  t.ok(mostBytes < 32 * mebibyte, `${mostBytes} bytes at most`);

  for await (const piece of client.download(range)) {
    t.ok(piece.length > 0, "a download can be stopped after a piece");
    break;
  }
  t.equal(
    await reasonOf(client.upload({ ...range, vol: { ...vol, name: "no", key: "/no" } }, randomData(sent))),
    "STORAGE_VOLUME_NOT_FOUND",
  );
  await client.call("storageVolDelete", { vol, flags: 0 });
  t.equal(await reasonOf(client.call("storageVolGetInfo", { vol })), "STORAGE_VOLUME_NOT_FOUND");
  await client.call("storagePoolDestroy", { pool });
  await client.call("storagePoolUndefine", { pool });
  t.equal(await reasonOf(client.call("storagePoolGetInfo", { pool })), "STORAGE_POOL_NOT_FOUND");
});

test("the client reconnects to a daemon that is killed during calls and transfers", {
  skip,
}, async (t) => {
  const { daemon, client } = await start(t);
  const events = watchEvents(client);
  const { vol } = await makePool(client, daemon);
  const { domain } = await client.call("domainDefineXmlFlags", { xml: domainXml("vm"), flags: 0 });
  await client.call("domainCreateWithFlags", { domain, flags: 0 });

  const range = { vol, offset: 0n, length: 0n, flags: 0 };
  const down = client.download(range)[Symbol.asyncIterator]();
  await down.next();
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield randomBytes(mebibyte);
    }
  }
  const up = reasonOf(client.upload({ ...range, length: BigInt(sizeBytes) * 1_000n }, endless()));
  const destroyed = reasonOf(client.call("domainDestroyFlags", { domain, flags: 0 }));
  const lost = new Promise<void>((resolve) => {
    client.onStateChange((state) => state === "connecting" && resolve());
  });
  await daemon.kill();
  await lost;
  t.equal(await destroyed, "LIBVIRT_UNAVAILABLE");
  t.equal(await up, "LIBVIRT_UNAVAILABLE");
  const rest = (async () => {
    for (let next = await down.next(); !next.done; next = await down.next()) {}
  })();
  t.equal(await reasonOf(rest), "LIBVIRT_UNAVAILABLE");
  t.equal(await reasonOf(client.call("connectListAllDomains", all)), "LIBVIRT_UNAVAILABLE");

  await daemon.start();
  await events.until(({ kind }) => kind === "reconnected");
  t.match(await client.call("connectListAllDomains", all), { domains: [{ name: "vm" }] });
  await client.call("domainDefineXmlFlags", { xml: domainXml("other"), flags: 0 });
  await events.until((event) => event.kind === "domainLifecycle" && event.domain.name === "other");
});

test("a thousand parallel calls get responses, and so do twenty slow ones", { skip }, async (t) => {
  const { client } = await start(t);
  const names = Array.from({ length: 20 }, (_each, index) => `vm${index}`);
  await Promise.all(
    names.map((name) => client.call("domainDefineXmlFlags", { xml: domainXml(name), flags: 0 })),
  );
  const beganAtMs = performance.now();
  const lists = await Promise.all(
    Array.from({ length: 1_000 }, () => client.call("connectListAllDomains", all)),
  );
  t.comment(`1000 lists of 20 domains in ${Math.round(performance.now() - beganAtMs)} ms`);
  t.ok(lists.every(({ count }) => count === 20));

  const { domains } = await client.call("connectListAllDomains", all);
  const undefinings = domains.map((domain) => client.call("domainUndefineFlags", { domain, flags: 0 }));
  const whileTheyWait = await client.call("connectGetHostname", {});
  t.ok(whileTheyWait.hostname.length > 0);
  await Promise.all(undefinings);
  t.match(await client.call("connectListAllDomains", all), { count: 0 });
});

test("libvirt's test driver, which supports less, works as well", { skip }, async (t) => {
  const daemon = await startLibvirt(t);
  const client = await connect(t, { socketPath: daemon.socketPath, uri: "test:///default" });
  t.match(await client.call("connectListAllDomains", all), { domains: [{ name: "test" }] });
  t.equal(
    await reasonOf(connect(t, { socketPath: daemon.socketPath, uri: "nothing:///here" })),
    "LIBVIRT_UNAVAILABLE",
    "a path that the daemon cannot open",
  );
});
