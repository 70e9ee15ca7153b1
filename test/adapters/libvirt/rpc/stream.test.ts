import { type Test, test } from "tap";
import { type Packet, packetStatus, packetType } from "../../../../adapters/libvirt/rpc/packet.ts";
import { reasonOf } from "../../host/reason-of.ts";
import { argsOf, nameOf, type Peer, refuse, reply, startClient, startFakeDaemon } from "./fake-daemon.ts";

const range = { vol: { pool: "p", name: "v", key: "/p/v" }, offset: 0n, length: 0n, flags: 0 };

interface Transfer {
  readonly peer: Peer;
  readonly call: Packet;
  send(bytes: Uint8Array): void;
  /** Sends the end of the data, or the reply to the other side's end. */
  end(): void;
  fail(code: number, message: string): void;
}

/** Starts a daemon that accepts transfers and leaves the rest to the test. */
async function start(
  t: Test,
  onTransfer: (transfer: Transfer) => void,
  onData: (packet: Packet, transfer: Transfer) => void = () => {},
) {
  const transfers = new Map<Peer, Transfer>();
  const daemon = await startFakeDaemon(t, (packet, peer) => {
    const name = nameOf(packet);
    if (packet.type === packetType.stream) {
      const transfer = transfers.get(peer);
      if (transfer !== undefined) {
        onData(packet, transfer);
      }
      return true;
    }
    if (name !== "storageVolDownload" && name !== "storageVolUpload") {
      return false;
    }
    t.same(argsOf(name, packet), range);
    const header = { ...packet, type: packetType.stream };
    const transfer: Transfer = {
      peer,
      call: packet,
      send: (bytes) => peer.send({ ...header, status: packetStatus.continue }, bytes),
      end: () => peer.send({ ...header, status: packetStatus.ok }),
      fail: (code, message) => refuse(peer, packet, code, message, packetType.stream),
    };
    transfers.set(peer, transfer);
    reply(peer, packet, name, undefined);
    onTransfer(transfer);
    return true;
  });
  const client = startClient(t, daemon);
  await client.ready();
  return { daemon, client };
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

async function* pieces(...all: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const each of all) {
    yield Buffer.from(each);
  }
}

test("a download yields every piece in order, and ends when libvirt has confirmed the end", async (t) => {
  let hasFinished = false;
  const { client, daemon } = await start(
    t,
    (transfer) => {
      for (const piece of ["one ", "two ", "three"]) {
        transfer.send(Buffer.from(piece));
      }
      transfer.end();
    },
    (packet, transfer) => {
      t.match(packet, { status: packetStatus.ok, serial: transfer.call.serial });
      t.equal(packet.payload.length, 0);
      hasFinished = true;
      transfer.end();
    },
  );
  t.equal(await collect(client.download(range)), "one two three");
  t.ok(hasFinished);
  await daemon.peers[1]?.closed;
  t.equal(daemon.peers.length, 1, "its connection is closed");
});

test("an empty volume has no content", async (t) => {
  const { client } = await start(
    t,
    (transfer) => transfer.end(),
    (_packet, transfer) => transfer.end(),
  );
  t.equal(await collect(client.download(range)), "");
});

test("an error in a download is thrown after the data before it, even at the very end", async (t) => {
  const { client } = await start(t, (transfer) => {
    transfer.send(Buffer.from("something"));
    transfer.fail(38, "cannot read: Input/output error");
  });
  const seen: string[] = [];
  const reason = await reasonOf(
    (async () => {
      for await (const piece of client.download(range)) {
        seen.push(Buffer.from(piece).toString());
      }
    })(),
  );
  t.equal(reason, "LIBVIRT_FAILED");
  t.same(seen, ["something"]);

  const atEnd = await start(
    t,
    (transfer) => transfer.end(),
    (_packet, transfer) => transfer.fail(1, "the reader has failed"),
  );
  t.equal(await reasonOf(collect(atEnd.client.download(range))), "LIBVIRT_FAILED");
});

test("a connection lost during a stream is reported, in both directions", async (t) => {
  const { client } = await start(t, (transfer) => {
    transfer.send(Buffer.from("something"));
    setImmediate(() => transfer.peer.destroy());
  });
  t.equal(await reasonOf(collect(client.download(range))), "LIBVIRT_UNAVAILABLE");
  const other = await start(t, (transfer) => void setImmediate(() => transfer.peer.destroy()));
  async function* endless() {
    for (;;) {
      yield Buffer.alloc(100_000);
    }
  }
  t.equal(await reasonOf(other.client.upload(range, endless())), "LIBVIRT_UNAVAILABLE");
});

test("a slow reader makes libvirt wait, while calls and events continue", async (t) => {
  const total = 40 << 20;
  const piece = Buffer.alloc(200_000, 7);
  let sentBytes = 0;
  const { client } = await start(
    t,
    (transfer) => {
      void (async () => {
        while (sentBytes < total) {
          transfer.send(piece);
          sentBytes += piece.length;
          await transfer.peer.drained();
        }
        transfer.end();
      })();
    },
    (_packet, transfer) => transfer.end(),
  );
  const iterator = client.download(range)[Symbol.asyncIterator]();
  let readBytes = (await iterator.next()).value?.length ?? 0;
  // Nothing is read for the duration of a hundred calls.
  for (let count = 0; count < 100; count += 1) {
    await client.call("connectGetHostname", {});
  }
  t.ok(sentBytes < 8 << 20, `${sentBytes} bytes are in transit`);
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    readBytes += next.value.length;
  }
  t.equal(readBytes, sentBytes);
});

test("leaving a download and aborting it close its connection", async (t) => {
  const { client, daemon } = await start(t, (transfer) => transfer.send(Buffer.from("first")));
  let closed: Promise<void> | undefined;
  for await (const piece of client.download(range)) {
    t.equal(Buffer.from(piece).toString(), "first");
    closed = daemon.peers[1]?.closed;
    break;
  }
  await closed;

  const leaving = new AbortController();
  const rest = (async () => {
    for await (const _piece of client.download(range, leaving.signal)) {
      leaving.abort();
    }
  })();
  t.equal(await reasonOf(rest), "CALLER_LEFT");
  t.equal(await reasonOf(collect(client.download(range, leaving.signal))), "CALLER_LEFT");
  t.equal(client.state, "connected");
});

test("an upload is split into pieces that libvirt accepts, and ends when libvirt has written it", async (t) => {
  const received: Buffer[] = [];
  const { client } = await start(
    t,
    () => {},
    (packet, transfer) => {
      if (packet.status === packetStatus.continue) {
        t.ok(packet.payload.length <= 262_120);
        received.push(Buffer.from(packet.payload));
      } else {
        transfer.end();
      }
    },
  );
  const large = "x".repeat(600_000);
  await client.upload(range, pieces("begin", "", large, "end"));
  t.equal(Buffer.concat(received).toString(), `begin${large}end`);
});

test("an error during an upload ends it, even while its source is blocked", async (t) => {
  const { client } = await start(
    t,
    () => {},
    (_packet, transfer) => transfer.fail(38, "cannot write: No space left on device"),
  );
  let isReturned = false;
  const stuck: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]() {
      let count = 0;
      return {
        next: () => {
          count += 1;
          return count === 1 ? Promise.resolve({ value: Buffer.from("a") }) : new Promise(() => {});
        },
        return: async () => {
          isReturned = true;
          return { value: undefined, done: true };
        },
      };
    },
  };
  t.equal(await reasonOf(client.upload(range, stuck)), "NO_SPACE");
  t.ok(isReturned, "the source is ended");
});

test("a failing source, and a caller that leaves, end an upload", async (t) => {
  const { client } = await start(t, () => {});
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("a");
    throw new Error("the source is broken");
  }
  await t.rejects(client.upload(range, failing()), { message: "the source is broken" });

  const leaving = new AbortController();
  async function* left(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("a");
    leaving.abort();
    yield Buffer.from("b");
  }
  t.equal(await reasonOf(client.upload(range, left(), leaving.signal)), "CALLER_LEFT");
});

test("a transfer that libvirt refuses reads nothing from its source", async (t) => {
  const daemon = await startFakeDaemon(t, (packet, peer) => {
    const isUpload = nameOf(packet) === "storageVolUpload";
    if (isUpload) {
      refuse(peer, packet, 50, "no such volume", packetType.reply);
    }
    return isUpload;
  });
  const client = startClient(t, daemon);
  await client.ready();
  let isRequested = false;
  async function* source(): AsyncGenerator<Uint8Array> {
    isRequested = true;
    yield Buffer.alloc(1);
  }
  t.equal(await reasonOf(client.upload(range, source())), "STORAGE_VOLUME_NOT_FOUND");
  t.notOk(isRequested);
});
