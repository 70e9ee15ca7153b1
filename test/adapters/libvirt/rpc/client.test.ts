import { test } from "tap";
import {
  encodeHeader,
  type Packet,
  packetStatus,
  packetType,
} from "../../../../adapters/libvirt/rpc/packet.ts";
import { procedures } from "../../../../adapters/libvirt/rpc/procedures.ts";
import { reasonOf } from "../../host/reason-of.ts";
import { domain, startBoth } from "./client-under-test.ts";
import { encode, nameOf, refuse, reply, startClient, startFakeDaemon } from "./fake-daemon.ts";

/** Encodes the reply with the hostname. */
function bytesOfAnswer(packet: Packet, hostname: string): Buffer {
  const payload = encode(procedures.connectGetHostname.result, { hostname });
  const header = { ...packet, type: packetType.reply, status: packetStatus.ok };
  return Buffer.concat([encodeHeader(header, payload.length), payload]);
}

test("opens the configured URI, and requests every event before it is ready", async (t) => {
  const { daemon, client, hostname } = await startBoth(t, () => false);
  t.equal(client.state, "connected");
  t.same(await hostname(), { hostname: "fake" });
  const called = daemon.peers[0]?.called ?? [];
  t.same(called.slice(0, 3), ["authList", "connectOpen", "connectSupportsFeature"]);
  t.equal(called.filter((name) => name.endsWith("RegisterAny")).length, 11);
});

test("matches replies to calls when they arrive at once and out of order", async (t) => {
  const held: Buffer[] = [];
  const { hostname } = await startBoth(t, (packet, peer) => {
    held.push(bytesOfAnswer(packet, String(packet.serial)));
    if (held.length === 4) {
      peer.write(Buffer.concat(held.toReversed()));
    }
    return true;
  });
  const answers = await Promise.all([hostname(), hostname(), hostname(), hostname()]);
  const serials = answers.map((answer) => Number(answer.hostname));
  t.same(
    serials,
    serials.toSorted((a, b) => a - b),
    "each has its own",
  );
  t.equal(new Set(serials).size, 4);
});

test("decodes a reply that arrives one byte at a time", async (t) => {
  const { hostname } = await startBoth(t, (packet, peer) => {
    void (async () => {
      for (const byte of bytesOfAnswer(packet, "in pieces")) {
        peer.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
    })();
    return true;
  });
  t.same(await hostname(), { hostname: "in pieces" });
});

test("no more than four calls are open at once, and the others follow", async (t) => {
  let open = 0;
  let most = 0;
  const { hostname } = await startBoth(t, (packet, peer) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
      reply(peer, packet, "connectGetHostname", { hostname: "a" });
    });
    return true;
  });
  await Promise.all(Array.from({ length: 100 }, hostname));
  t.equal(most, 4);
});

test("a refusal is the error of its own call only", async (t) => {
  let count = 0;
  const { client, hostname } = await startBoth(t, (packet, peer) => {
    count += 1;
    if (count > 1) {
      return false;
    }
    refuse(peer, packet, 42, "no such domain", packetType.reply);
    return true;
  });
  t.equal(await reasonOf(hostname()), "DOMAIN_NOT_FOUND");
  t.same(await hostname(), { hostname: "fake" });
  t.equal(client.state, "connected");
});

test("a caller that leaves and one that times out fail at once; late replies do no harm", async (t) => {
  const held: (() => void)[] = [];
  const { client } = await startBoth(t, (packet, peer) => {
    if (held.length === 2) {
      return false;
    }
    held.push(() => reply(peer, packet, "connectGetHostname", { hostname: "late" }));
    return true;
  });
  const leaving = new AbortController();
  const left = reasonOf(client.call("connectGetHostname", {}, { signal: leaving.signal }));
  const late = reasonOf(client.call("connectGetHostname", {}, { timeoutMs: 20 }));
  leaving.abort();
  t.equal(await left, "CALLER_LEFT");
  t.equal(await late, "LIBVIRT_UNAVAILABLE");
  for (const answer of held) {
    answer();
  }
  t.same(await client.call("connectGetHostname", {}), { hostname: "fake" });
  t.equal(client.state, "connected");
  t.equal(await reasonOf(client.call("connectGetHostname", {}, { signal: leaving.signal })), "CALLER_LEFT");
});

test("a call cancelled while it waits is never sent", async (t) => {
  const held: (() => void)[] = [];
  const { daemon, client, hostname } = await startBoth(t, (packet, peer) => {
    held.push(() => reply(peer, packet, "connectGetHostname", { hostname: "a" }));
    return true;
  });
  const first = Promise.all([hostname(), hostname(), hostname(), hostname()]);
  t.equal(await reasonOf(client.call("connectGetHostname", {}, { timeoutMs: 10 })), "LIBVIRT_UNAVAILABLE");
  for (const answer of held) {
    answer();
  }
  await first;
  t.equal(daemon.peers[0]?.called.filter((name) => name === "connectGetHostname").length, 4);
});

test("an undecodable reply fails only its own call", async (t) => {
  let count = 0;
  const { client, hostname } = await startBoth(t, (packet, peer) => {
    count += 1;
    if (count > 1) {
      return false;
    }
    peer.send({ ...packet, type: packetType.reply, status: packetStatus.ok }, Buffer.from("none"));
    return true;
  });
  t.equal(await reasonOf(hostname()), "TOOL_OUTPUT");
  t.same(await hostname(), { hostname: "fake" });
  t.equal(client.state, "connected");
});

test("a slow call has a separate connection, which is closed afterwards", async (t) => {
  const held = Promise.withResolvers<() => void>();
  const daemon = await startFakeDaemon(t, (packet, peer) => {
    if (nameOf(packet) !== "domainDestroyFlags") {
      return false;
    }
    held.resolve(() => reply(peer, packet, "domainDestroyFlags", undefined));
    return true;
  });
  const client = startClient(t, daemon);
  await client.ready();
  const destroyed = client.call("domainDestroyFlags", { domain, flags: 0 });
  const answer = await held.promise;
  t.equal(daemon.peers.length, 2);
  t.same(daemon.peers[1]?.called, ["authList", "connectOpen", "domainDestroyFlags"]);
  t.same(await client.call("connectGetHostname", {}), { hostname: "fake" }, "other calls need not wait");
  answer();
  const closed = daemon.peers[1]?.closed;
  await destroyed;
  await closed;
  t.equal(daemon.peers.length, 1);
});
