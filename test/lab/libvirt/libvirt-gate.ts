import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Test } from "tap";
import {
  createPacketDecoder,
  encodeHeader,
  maxPacketBytes,
  type Packet,
  packetType,
} from "../../../adapters/libvirt/rpc/packet.ts";
import { type ProcedureName, procedures } from "../../../adapters/libvirt/rpc/procedures.ts";

/** A call that the gate holds. */
export interface HeldCall {
  readonly procedure: ProcedureName;
  /** Text that its arguments contain, such as the name of a VM. */
  readonly about: string;
  /**
   * `before`: libvirt does not receive the call. `during`: libvirt receives it and is working on it. `after`: libvirt has
   * responded. In the last two cases the response is held.
   */
  readonly at: "before" | "during" | "after";
}

export interface Hold {
  /** Resolves once the call is held. */
  readonly isHeld: Promise<void>;
  release(): void;
}

/** A relay in front of libvirt's unix socket that passes everything on unchanged. */
export interface LibvirtGate {
  readonly uri: string;
  /** Names of all calls, in order. */
  readonly calls: readonly string[];
  /** Holds the next matching call; later ones pass. */
  hold(call: HeldCall): Hold;
  /** Releases all holds, and passes on what they have held. */
  releaseAll(): void;
}

interface Entry extends HeldCall {
  isTaken: boolean;
  readonly held: PromiseWithResolvers<void>;
  readonly released: PromiseWithResolvers<void>;
}

const names = new Map(
  Object.entries(procedures).map(([name, { program, number }]) => [`${program.number} ${number}`, name]),
);

/** Opens a gate at `path` in front of the socket `target`; it runs until the test ends. */
export async function startLibvirtGate(t: Test, path: string, target: string): Promise<LibvirtGate> {
  const calls: string[] = [];
  const sockets = new Set<Socket>();
  let entries: Entry[] = [];

  /** Removes and returns the first hold that matches the call. */
  function take(name: string, payload: Buffer): Entry | undefined {
    const entry = entries.find(
      ({ isTaken, procedure, about }) => !isTaken && procedure === name && payload.includes(about),
    );
    if (entry !== undefined) {
      entry.isTaken = true;
    }
    return entry;
  }

  function join(client: Socket, daemon: Socket): void {
    /** Held calls by number, which their streams and responses repeat. */
    const held = new Map<number, Entry>();
    forward(client, daemon, (packet) => {
      const { type, serial, program, procedure, payload } = packet;
      if (type === packetType.call) {
        const name = names.get(`${program} ${procedure}`);
        if (name !== undefined) {
          calls.push(name);
          const entry = take(name, payload);
          if (entry !== undefined) {
            held.set(serial, entry);
          }
        }
      }
      const entry = held.get(serial);
      if (entry?.at === "during") {
        // The packet reaches the other side of this turn of the event loop first.
        setImmediate(entry.held.resolve);
      }
      return entry?.at === "before" ? entry : undefined;
    });
    forward(daemon, client, ({ type, serial }) => {
      const entry = type === packetType.reply ? held.get(serial) : undefined;
      return entry === undefined || entry.at === "before" ? undefined : entry;
    });
  }

  const server = createServer((client) => {
    const daemon = connect(target);
    for (const [socket, other] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    join(client, daemon);
  });
  server.listen(path);
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });

  return {
    uri: `qemu:///session?socket=${path}`,
    calls,
    hold(call) {
      const entry = {
        ...call,
        isTaken: false,
        held: Promise.withResolvers<void>(),
        released: Promise.withResolvers<void>(),
      };
      entries.push(entry);
      return { isHeld: entry.held.promise, release: entry.released.resolve };
    },
    releaseAll() {
      for (const { released } of entries) {
        released.resolve();
      }
      entries = [];
    },
  };
}

/** Forwards packets in order, except those that wait for the release of `holdOf`; others overtake them. */
function forward(from: Socket, to: Socket, holdOf: (packet: Packet) => Entry | undefined): void {
  const decoder = createPacketDecoder(maxPacketBytes);
  from.on("data", (chunk: Buffer) => {
    for (const packet of decoder.push(chunk)) {
      const bytes = Buffer.concat([encodeHeader(packet, packet.payload.length), packet.payload]);
      const entry = holdOf(packet);
      if (entry === undefined) {
        to.write(bytes);
      } else {
        entry.held.resolve();
        // Packets of one call are released in order.
        void entry.released.promise.then(() => to.destroyed || to.write(bytes));
      }
    }
  });
}
