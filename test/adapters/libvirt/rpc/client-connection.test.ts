import { chmod } from "node:fs/promises";
import { test } from "tap";
import { createLibvirtClient } from "../../../../adapters/libvirt/rpc/client.ts";
import type { LibvirtEvent } from "../../../../adapters/libvirt/rpc/events.ts";
import { domainRef } from "../../../../adapters/libvirt/rpc/objects.ts";
import { packetStatus, packetType } from "../../../../adapters/libvirt/rpc/packet.ts";
import { remoteProgram } from "../../../../adapters/libvirt/rpc/procedure.ts";
import { int, struct } from "../../../../adapters/libvirt/rpc/xdr.ts";
import { reasonOf } from "../../host/reason-of.ts";
import { domain, startBoth, until, untilEvent } from "./client-under-test.ts";
import {
  encode,
  nameOf,
  type OnPacket,
  type Peer,
  refuse,
  reply,
  startClient,
  startFakeDaemon,
} from "./fake-daemon.ts";

const ping = { program: 0x6b65_6570, version: 1, procedure: 1, type: 2, serial: 0, status: 0 };

function lifecycle(peer: Peer, event: number): void {
  const payload = encode(struct({ callbackId: int, domain: domainRef, event: int, detail: int }), {
    callbackId: 1,
    domain,
    event,
    detail: 0,
  });
  const { number: program, version } = remoteProgram;
  const header = {
    program,
    version,
    procedure: 318,
    type: packetType.message,
    serial: 0,
    status: packetStatus.ok,
  };
  peer.send(header, payload);
}

function answerAs(peer: Peer, packet: Parameters<OnPacket>[0], header: object): true {
  peer.send({ ...packet, type: packetType.reply, status: packetStatus.ok, ...header });
  return true;
}

function writeHex(peer: Peer, _packet: Parameters<OnPacket>[0], hex: string): true {
  peer.write(Buffer.from(hex, "hex"));
  return true;
}

test("an invalid packet from the daemon ends the connection, and another one is opened", async (t) => {
  const wrong: readonly (readonly [string, OnPacket, { maxMessageBytes?: number }?])[] = [
    ["an unexpected reply", (packet, peer) => answerAs(peer, packet, { serial: 4_000_000_000 })],
    ["a reply with another program", (packet, peer) => answerAs(peer, packet, { program: 0x2000_8087 })],
    ["a reply with another version", (packet, peer) => answerAs(peer, packet, { version: 2 })],
    ["a reply with another procedure", (packet, peer) => answerAs(peer, packet, { procedure: 60 })],
    ["a call", (packet, peer) => answerAs(peer, packet, { type: packetType.call })],
    ["an unknown type", (packet, peer) => answerAs(peer, packet, { type: 77 })],
    ["too large a packet", (packet, peer) => writeHex(peer, packet, "0000ffff"), { maxMessageBytes: 4_000 }],
    ["too small a packet", (packet, peer) => writeHex(peer, packet, "00000010")],
  ];
  for (const [what, onHostname, options] of wrong) {
    const { client, hostname } = await startBoth(t, onHostname, options);
    const again = untilEvent(client, "reconnected");
    const why = until(client, "connecting");
    t.equal(await reasonOf(hostname()), "TOOL_OUTPUT", what);
    t.match(await why, { reason: "LIBVIRT_UNAVAILABLE", message: /^libvirt sent/ }, what);
    await again;
    t.equal(client.state, "connected");
    await client.close();
  }
});

test("events reach every subscriber until it unsubscribes; unknown ones do no harm", async (t) => {
  const { daemon, client, hostname } = await startBoth(t, () => false);
  const seen: LibvirtEvent[] = [];
  const others: LibvirtEvent[] = [];
  client.subscribe((event) => seen.push(event));
  const leave = client.subscribe((event) => others.push(event));
  const [peer] = daemon.peers;
  if (peer === undefined) {
    throw new Error("no connection");
  }
  const header = { program: 0x2000_8086, version: 1, procedure: 9_999, type: 2, serial: 0, status: 0 };
  peer.send(header, Buffer.from("anything"));
  peer.send({ ...header, program: 0x2000_8087, procedure: 6 });
  lifecycle(peer, 2);
  await hostname();
  leave();
  lifecycle(peer, 99);
  await hostname();
  t.same(seen, [
    { kind: "domainLifecycle", domain, event: "started", detail: 0 },
    { kind: "domainLifecycle", domain, event: "unknown", detail: 0 },
  ]);
  t.equal(others.length, 1);
});

test("an undecodable event counts as a lost connection, since the known state may be wrong", async (t) => {
  const { daemon, client } = await startBoth(t, () => false);
  const again = untilEvent(client, "reconnected");
  daemon.peers[0]?.send({ program: 0x2000_8086, version: 1, procedure: 318, type: 2, serial: 0, status: 0 });
  await again;
  t.equal(client.state, "connected");
});

test("reconnects to a restarted daemon with all events; pending calls fail", async (t) => {
  const { daemon, client, hostname } = await startBoth(t, () => true);
  const waiting = reasonOf(hostname());
  const lost = until(client, "connecting");
  await daemon.stop();
  t.match(await lost, { reason: "LIBVIRT_UNAVAILABLE" });
  t.equal(await waiting, "LIBVIRT_UNAVAILABLE");
  t.equal(await reasonOf(hostname()), "LIBVIRT_UNAVAILABLE", "while there is no daemon");
  t.equal(await reasonOf(client.ready()), "LIBVIRT_UNAVAILABLE");

  const again = untilEvent(client, "reconnected");
  await daemon.start();
  await again;
  await client.ready();
  const event = untilEvent(client, "domainLifecycle");
  const [peer] = daemon.peers;
  t.equal(peer?.called.filter((name) => name.endsWith("RegisterAny")).length, 11);
  lifecycle(peer as Peer, 5);
  t.match(await event, { event: "stopped" });
});

test("the client answers pings, and pings a silent daemon before it gives up", async (t) => {
  let pings = 0;
  const pong = Promise.withResolvers<void>();
  const daemon = await startFakeDaemon(t, (packet) => {
    if (packet.program !== ping.program) {
      return false;
    }
    pings += Number(packet.procedure === 1);
    if (packet.procedure === 2) {
      pong.resolve();
    }
    return true;
  });
  const client = startClient(t, daemon, { keepAliveMs: 20 });
  await client.ready();
  daemon.peers[0]?.send(ping);
  await pong.promise;
  const why = await until(client, "connecting");
  t.match(why, { reason: "LIBVIRT_UNAVAILABLE", message: /no reply to keepalives/ });
  t.equal(pings, 5);
});

test("a daemon that answers pings stays connected", async (t) => {
  let pings = 0;
  const enough = Promise.withResolvers<void>();
  const daemon = await startFakeDaemon(t, (packet, peer) => {
    if (packet.program !== ping.program) {
      return false;
    }
    pings += 1;
    peer.send({ ...ping, procedure: 2 });
    if (pings === 15) {
      enough.resolve();
    }
    return true;
  });
  const client = startClient(t, daemon, { keepAliveMs: 5 });
  await client.ready();
  const states: string[] = [];
  client.onStateChange((state) => states.push(state));
  await enough.promise;
  t.same(states, []);
  t.equal(client.state, "connected");
});

test("losing the daemon also ends long calls", async (t) => {
  const held = Promise.withResolvers<void>();
  const daemon = await startFakeDaemon(t, (packet) => {
    const isHeld = nameOf(packet) === "domainDestroyFlags";
    if (isHeld) {
      held.resolve();
    }
    return isHeld;
  });
  const client = startClient(t, daemon);
  await client.ready();
  const destroyed = reasonOf(client.call("domainDestroyFlags", { domain, flags: 0 }));
  await held.promise;
  daemon.peers[0]?.destroy();
  t.equal(await destroyed, "LIBVIRT_UNAVAILABLE");
});

test("uses polkit if the daemon requires it, and does not support passwords", async (t) => {
  for (const [types, authorized, reason] of [
    [[2], true, undefined],
    [[2], false, "LIBVIRT_DENIED"],
    [[1], true, "LIBVIRT_DENIED"],
  ] as const) {
    const daemon = await startFakeDaemon(t, (packet, peer) => {
      const name = nameOf(packet);
      if (name === "authList") {
        reply(peer, packet, name, { types });
      } else if (name === "authPolkit" && authorized) {
        reply(peer, packet, name, { complete: true });
      } else if (name === "authPolkit") {
        refuse(peer, packet, 45, "authentication failed: no agent is available", packetType.reply);
      } else {
        return false;
      }
      return true;
    });
    const client = startClient(t, daemon);
    t.equal(await reasonOf(client.ready()), reason);
    await client.close();
  }
});

test("distinguishes an absent daemon from a socket without access", async (t) => {
  const daemon = await startFakeDaemon(t);
  await daemon.stop();
  const client = startClient(t, daemon);
  t.equal(
    await reasonOf(client.call("connectGetHostname", {})),
    "LIBVIRT_UNAVAILABLE",
    "before the first attempt",
  );
  await t.rejects(client.ready(), {
    reason: "LIBVIRT_UNAVAILABLE",
    message: /check that libvirtd is running/,
  });
  await daemon.start();
  await untilEvent(client, "reconnected");
  if (process.getuid?.() !== 0) {
    await chmod(daemon.socketPath, 0);
    const denied = startClient(t, daemon);
    t.equal(await reasonOf(denied.ready()), "LIBVIRT_DENIED");
  }
});

test("close ends all pending calls, and no further connection is opened", async (t) => {
  const { client, hostname } = await startBoth(t, () => true);
  const waiting = reasonOf(hostname());
  await client.close();
  t.equal(await waiting, "LIBVIRT_UNAVAILABLE");
  t.equal(client.state, "closed");
  t.equal(await reasonOf(hostname()), "LIBVIRT_UNAVAILABLE");
  t.equal(await reasonOf(client.ready()), "LIBVIRT_UNAVAILABLE");
  await client.close();

  const never = createLibvirtClient({ socketPath: "/nonexistent/socket", uri: "fake:///" });
  await never.close();
  t.equal(never.state, "closed");
});
