import { InfraError } from "../../host/infra-error.ts";
import { createLimiter } from "../../host/limiter.ts";
import { hostReasons } from "../../host/reasons.ts";
import { errorFromPayload } from "./errors.ts";
import { type Patience, withPatience } from "./give-up.ts";
import { type Packet, type PacketHeader, packetStatus, packetType } from "./packet.ts";
import { openPacketSocket, type PacketSocketOptions } from "./packet-socket.ts";
import type { Procedure } from "./procedure.ts";
import type { Codec } from "./xdr.ts";
import { decodeExactly } from "./xdr-reader.ts";
import { createXdrWriter } from "./xdr-writer.ts";

export interface ConnectionOptions
  extends Pick<PacketSocketOptions, "socketPath" | "keepAliveMs" | "maxMessageBytes"> {
  /** Called for packets that are not replies: events. If it throws, the connection ends. */
  readonly onMessage?: (packet: Packet) => void;
}

/** Receives the data of a stream. Nothing follows an error. */
export interface StreamReceiver {
  onData(bytes: Buffer): void;
  /** An empty packet: the end of the data, and the reply to `finish`. */
  onEnd(): void;
  onError(error: InfraError): void;
}

export interface StreamChannel {
  /**
   * Resolves when the next piece may be sent. `bytes` must not be modified until they have been written to the socket.
   */
  send(bytes: Uint8Array): Promise<void>;
  /** Ends this side's data; libvirt replies with an end or an error. */
  finish(): void;
}

/** Calls over one socket; replies may come in any order. */
export interface Connection {
  /**
   * @throws InfraError for a refusal by libvirt, INVALID_FIELD for arguments that cannot be encoded, TOOL_OUTPUT for a
   * reply that cannot be decoded, LIBVIRT_UNAVAILABLE for none
   */
  call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, patience?: Patience): Promise<Result>;
  /** Calls a procedure that has a stream. Resolves when libvirt has accepted; the receiver may be called before. */
  openStream<Args, Result>(
    procedure: Procedure<Args, Result>,
    args: Args,
    receiver: StreamReceiver,
    patience?: Patience,
  ): Promise<StreamChannel>;
  /** Pauses reading from the whole connection. */
  pause(): void;
  resume(): void;
  /** Ends the connection; pending calls fail with this error. */
  end(why: InfraError): void;
  /** Resolves with the reason once the connection has ended. */
  readonly ended: Promise<InfraError>;
}

/**
 * By default libvirtd stops reading from a connection that has five open calls, even keepalives (`max_client_requests`
 * in libvirtd.conf), so one slot stays free.
 */
const maxRunning = 4;
const maxWaiting = 10_000;

interface Pending {
  readonly procedure: Procedure<unknown, unknown>;
  readonly resolve: (reply: Packet) => void;
  readonly reject: (error: InfraError) => void;
}

/** @throws InfraError as openPacketSocket does */
export async function openConnection(options: ConnectionOptions, signal?: AbortSignal): Promise<Connection> {
  const { onMessage, ...socketOptions } = options;
  const pending = new Map<number, Pending>();
  const streams = new Map<number, StreamReceiver>();
  const turns = createLimiter({ what: "libvirt calls", maxRunning, maxWaiting });
  const ended = Promise.withResolvers<InfraError>();
  let over: InfraError | undefined;
  let lastSerial = 0;
  const socket = await openPacketSocket({ ...socketOptions, onPacket, onEnd }, signal);

  function onEnd(why: InfraError): void {
    over = why;
    for (const { reject } of pending.values()) {
      reject(why);
    }
    for (const receiver of streams.values()) {
      receiver.onError(why);
    }
    pending.clear();
    streams.clear();
    ended.resolve(why);
  }

  function onPacket(packet: Packet): void {
    switch (packet.type) {
      case packetType.reply:
        onReply(packet);
        break;
      case packetType.stream:
        onStream(packet);
        break;
      case packetType.message:
        onMessage?.(packet);
        break;
      default:
        throw misplaced(packet);
    }
  }

  function onReply(packet: Packet): void {
    const call = pending.get(packet.serial);
    if (call === undefined && streams.has(packet.serial) && packet.status === packetStatus.error) {
      onStream(packet);
      return;
    }
    // After an unexpected or mismatched reply, the two sides are out of sync.
    if (call === undefined || !isOf(call.procedure, packet)) {
      throw misplaced(packet);
    }
    pending.delete(packet.serial);
    call.resolve(packet);
  }

  /** Data may still arrive for a cancelled stream. */
  function onStream({ serial, status, payload }: Packet): void {
    const receiver = streams.get(serial);
    if (status === packetStatus.error) {
      const error = errorFromPayload(payload);
      streams.delete(serial);
      receiver?.onError(error);
    } else if (payload.length === 0) {
      receiver?.onEnd();
    } else {
      receiver?.onData(payload);
    }
  }

  function nextSerial(): number {
    lastSerial = (lastSerial + 1) >>> 0;
    return lastSerial;
  }

  function exchange(
    procedure: Procedure<unknown, unknown>,
    serial: number,
    payload: Buffer,
  ): Promise<Packet> {
    return new Promise((resolve, reject) => {
      if (over !== undefined) {
        reject(over);
        return;
      }
      pending.set(serial, { procedure, resolve, reject });
      socket.send(headerOf(procedure, packetType.call, serial, packetStatus.ok), payload);
    });
  }

  async function callAs<Args, Result>(
    serial: number,
    procedure: Procedure<Args, Result>,
    args: Args,
    patience: Patience,
  ): Promise<Result> {
    const payload = encode(procedure.args, args);
    // The slot is kept until the reply arrives, even if the caller has given up: libvirt is busy with the call until
    // then.
    const reply = await withPatience(
      (givenUp) => turns.run(() => exchange(procedure, serial, payload), givenUp),
      patience,
    );
    if (reply.status !== packetStatus.ok) {
      throw errorFromPayload(reply.payload);
    }
    return decodeExactly(procedure.result, reply.payload);
  }

  return {
    call: async (procedure, args, patience = {}) => callAs(nextSerial(), procedure, args, patience),
    async openStream(procedure, args, receiver, patience = {}) {
      const serial = nextSerial();
      streams.set(serial, receiver);
      try {
        await callAs(serial, procedure, args, patience);
      } catch (error) {
        streams.delete(serial);
        throw error;
      }
      const header = (status: number) => headerOf(procedure, packetType.stream, serial, status);
      return {
        async send(bytes) {
          if (!socket.send(header(packetStatus.continue), bytes)) {
            await socket.drained();
          }
        },
        finish: () => void socket.send(header(packetStatus.ok), new Uint8Array()),
      };
    },
    pause: socket.pause,
    resume: socket.resume,
    end: socket.end,
    ended: ended.promise,
  };
}

function encode<T>(codec: Codec<T>, value: T): Buffer {
  const writer = createXdrWriter();
  codec.encode(writer, value);
  return writer.finish();
}

function headerOf(
  { program, number }: Procedure<unknown, unknown>,
  type: number,
  serial: number,
  status: number,
): PacketHeader {
  return { program: program.number, version: program.version, procedure: number, type, serial, status };
}

function isOf({ program, number }: Procedure<unknown, unknown>, packet: Packet): boolean {
  return (
    packet.program === program.number && packet.version === program.version && packet.procedure === number
  );
}

function misplaced({ program, version, procedure, type, serial }: Packet): InfraError {
  const what = `program 0x${program.toString(16)} version ${version} procedure ${procedure} type ${type}`;
  return new InfraError(
    hostReasons.TOOL_OUTPUT,
    `libvirt sent an unexpected packet: ${what} serial ${serial}`,
  );
}
