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

/** The packet that tells the hostname. */
function bytesOfAnswer(packet: Packet, hostname: string): Buffer {
  const payload = encode(procedures.connectGetHostname.result, { hostname });
  const header = { ...packet, type: packetType.reply, status: packetStatus.ok };
  return Buffer.concat([encodeHeader(header, payload.length), payload]);
}

test("it opens what it was told, and asks for every event before it is ready", async (t) => {
  const { daemon, client, hostname } = await startBoth(t, () => false);
  t.equal(client.state, "connected");
  t.same(await hostname(), { hostname: "fake" });
  const called = daemon.peers[0]?.called ?? [];
  t.same(called.slice(0, 3), ["authList", "connectOpen", "connectSupportsFeature"]);
  t.equal(called.filter((name) => name.endsWith("RegisterAny")).length, 11);
});

test("answers that come at once and in another order find their calls", async (t) => {
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

test("an answer is read a byte at a time", async (t) => {
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

test("no more than four calls are with libvirt at once, and the others follow", async (t) => {
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

test("a refusal is that call's error and nobody else's", async (t) => {
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

test("a caller that leaves and one that has waited long enough are told at once; later answers harm nobody", async (t) => {
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

test("a call that was given up before its turn is never sent", async (t) => {
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

test("an answer that cannot be read fails its call alone", async (t) => {
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

test("a call that may take long has a connection of its own, which is closed after it", async (t) => {
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
  t.same(await client.call("connectGetHostname", {}), { hostname: "fake" }, "others need not wait");
  answer();
  const closed = daemon.peers[1]?.closed;
  await destroyed;
  await closed;
  t.equal(daemon.peers.length, 1);
});
