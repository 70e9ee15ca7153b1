import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { createLibvirtClient, type LibvirtClient } from "../../../../adapters/libvirt/rpc/client.ts";
import { type RemoteError, remoteError } from "../../../../adapters/libvirt/rpc/objects.ts";
import {
  createPacketDecoder,
  encodeHeader,
  maxPacketBytes,
  type Packet,
  type PacketHeader,
  packetStatus,
  packetType,
} from "../../../../adapters/libvirt/rpc/packet.ts";
import {
  type ArgsOf,
  type ProcedureName,
  procedures,
  type ResultOf,
} from "../../../../adapters/libvirt/rpc/procedures.ts";
import type { Codec } from "../../../../adapters/libvirt/rpc/xdr.ts";
import { decodeExactly } from "../../../../adapters/libvirt/rpc/xdr-reader.ts";
import { createXdrWriter } from "../../../../adapters/libvirt/rpc/xdr-writer.ts";

/** One connection to the fake daemon. */
export interface Peer {
  send(header: PacketHeader, payload?: Uint8Array): void;
  /** Writes raw bytes. */
  write(bytes: Uint8Array): void;
  /** Resolves when the client has read everything that was sent. */
  drained(): Promise<void>;
  destroy(): void;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  /** Called procedures, in order. */
  readonly called: ProcedureName[];
}

/** Handles a call; returns false to leave it to the daemon. */
export type OnPacket = (packet: Packet, peer: Peer) => boolean;

/** Speaks libvirt's protocol: opens connections, registers events, and answers calls as a test specifies. */
export interface FakeDaemon {
  readonly socketPath: string;
  /** Open connections, in order of arrival. */
  readonly peers: readonly Peer[];
  start(): Promise<void>;
  /** Closes the socket and every connection. */
  stop(): Promise<void>;
}

export function encode<T>(codec: Codec<T>, value: T): Buffer {
  const writer = createXdrWriter();
  codec.encode(writer, value);
  return writer.finish();
}

export function nameOf({ program, procedure }: Packet): ProcedureName | undefined {
  const names = Object.keys(procedures) as ProcedureName[];
  return names.find(
    (name) => procedures[name].program.number === program && procedures[name].number === procedure,
  );
}

export function argsOf<Name extends ProcedureName>(name: Name, { payload }: Packet): ArgsOf<Name> {
  return decodeExactly(procedures[name].args as unknown as Codec<ArgsOf<Name>>, payload);
}

export function reply<Name extends ProcedureName>(
  peer: Peer,
  packet: Packet,
  name: Name,
  result: ResultOf<Name>,
): void {
  const codec = procedures[name].result as unknown as Codec<ResultOf<Name>>;
  peer.send({ ...packet, type: packetType.reply, status: packetStatus.ok }, encode(codec, result));
}

/** Sends a refusal, as a reply or in a stream. */
export function refuse(peer: Peer, packet: Packet, code: number, message: string, type: number): void {
  const nothing = { dom: null, str1: null, str2: null, str3: null, int1: 0, int2: 0, net: null };
  const error: RemoteError = { code, domain: 10, message, level: 2, ...nothing };
  peer.send({ ...packet, type, status: packetStatus.error }, encode(remoteError, error));
}

/** Starts a daemon on its own socket, until the test ends. */
export async function startFakeDaemon(t: Test, onPacket: OnPacket = () => false): Promise<FakeDaemon> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-fake-libvirt-"));
  const socketPath = join(directory, "socket");
  const peers: Peer[] = [];
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let callbacks = 0;

  function accept(socket: Socket): void {
    const called: ProcedureName[] = [];
    const closed = Promise.withResolvers<void>();
    const peer: Peer = {
      called,
      send(header, payload = new Uint8Array()) {
        socket.write(Buffer.concat([encodeHeader(header, payload.length), payload]));
      },
      write: (bytes) => void socket.write(bytes),
      async drained() {
        if (socket.writableNeedDrain) {
          await once(socket, "drain");
        }
      },
      destroy: () => socket.destroy(),
      closed: closed.promise,
    };
    const decoder = createPacketDecoder(maxPacketBytes);
    sockets.add(socket);
    peers.push(peer);
    socket.on("data", (chunk: Buffer) => {
      for (const packet of decoder.push(chunk)) {
        const name = nameOf(packet);
        if (packet.type === packetType.call && name !== undefined) {
          called.push(name);
        }
        if (!onPacket(packet, peer) && packet.type === packetType.call) {
          answer(peer, packet, name);
        }
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      peers.splice(peers.indexOf(peer), 1);
      closed.resolve();
    });
  }

  function answer(peer: Peer, packet: Packet, name: ProcedureName | undefined): void {
    switch (name) {
      case "authList":
        reply(peer, packet, name, { types: [0] });
        break;
      case "connectOpen":
        reply(peer, packet, name, undefined);
        break;
      case "connectSupportsFeature":
        reply(peer, packet, name, { supported: true });
        break;
      case "connectDomainEventCallbackRegisterAny":
      case "connectStoragePoolEventRegisterAny":
      case "connectNodeDeviceEventRegisterAny":
        callbacks += 1;
        reply(peer, packet, name, { callbackId: callbacks });
        break;
      case "connectGetHostname":
        reply(peer, packet, name, { hostname: "fake" });
        break;
      default:
        refuse(peer, packet, 3, "this function is not supported by the fake", packetType.reply);
    }
  }

  async function start(): Promise<void> {
    server = createServer(accept).listen(socketPath);
    await once(server, "listening");
  }

  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) {
      socket.destroy();
    }
    await closed;
  }

  await start();
  t.teardown(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    socketPath,
    peers,
    start,
    stop,
  };
}

/** Starts a client that reconnects quickly, until the test ends. */
export function startClient(
  t: Test,
  { socketPath }: FakeDaemon,
  options: { readonly keepAliveMs?: number; readonly maxMessageBytes?: number } = {},
): LibvirtClient {
  const client = createLibvirtClient({ socketPath, uri: "fake:///", reconnectMs: 5, ...options });
  t.teardown(client.close);
  return client;
}
