import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";

/** Types of packets, by libvirt's numbers. The types with file descriptors are never used. */
export const packetType = { call: 0, reply: 1, message: 2, stream: 3, streamHole: 6 } as const;

/** Status of a packet; `continue` means that more of the stream follows. */
export const packetStatus = { ok: 0, error: 1, continue: 2 } as const;

export interface PacketHeader {
  readonly program: number;
  readonly version: number;
  readonly procedure: number;
  readonly type: number;
  /** Number of the call, repeated in its reply and its stream. */
  readonly serial: number;
  readonly status: number;
}

export interface Packet extends PacketHeader {
  readonly payload: Buffer;
}

/** A length field and six words of 32 bits. */
export const headerBytes = 28;

/** libvirt's limit of a packet, which does not count the length in front. */
export const maxPacketBytes = 32 << 20;

const lengthBytes = 4;

/** Encodes the length and header in front of a payload of that size. */
export function encodeHeader(header: PacketHeader, payloadBytes: number): Buffer {
  const { program, version, procedure, type, serial, status } = header;
  const bytes = Buffer.allocUnsafe(headerBytes);
  bytes.writeUInt32BE(headerBytes + payloadBytes, 0);
  bytes.writeUInt32BE(program, 4);
  bytes.writeUInt32BE(version, 8);
  bytes.writeInt32BE(procedure, 12);
  bytes.writeInt32BE(type, 16);
  bytes.writeUInt32BE(serial, 20);
  bytes.writeInt32BE(status, 24);
  return bytes;
}

export interface PacketDecoder {
  /**
   * Yields the packets that these bytes complete. A payload that arrived in one piece is a view of the pushed bytes.
   * Iterate to the end: the rest is kept for the next push.
   * @throws InfraError TOOL_OUTPUT for an invalid length; the rest of the stream is lost then
   */
  push(chunk: Buffer): Generator<Packet, void>;
}

/**
 * Creates a decoder that finds packets in a byte stream, however it is split into chunks. It buffers at most one
 * incomplete packet.
 */
export function createPacketDecoder(maxBytes: number): PacketDecoder {
  /** The incomplete packet, or a part of its length. */
  let collected: Buffer | undefined;
  let filledBytes = 0;

  function lengthOf(bytes: Buffer): number {
    const length = bytes.readUInt32BE(0);
    if (length < headerBytes || length > maxBytes + lengthBytes) {
      const limits = `a packet has ${headerBytes} to ${maxBytes + lengthBytes}`;
      throw new InfraError(hostReasons.TOOL_OUTPUT, `libvirt sent a packet of ${length} bytes; ${limits}`);
    }
    return length;
  }

  return {
    *push(chunk) {
      let rest = chunk;
      while (rest.length > 0) {
        if (collected === undefined) {
          const neededBytes = rest.length < lengthBytes ? lengthBytes : lengthOf(rest);
          if (neededBytes > lengthBytes && rest.length >= neededBytes) {
            yield decodePacket(rest.subarray(0, neededBytes));
            rest = rest.subarray(neededBytes);
            continue;
          }
          collected = Buffer.allocUnsafe(neededBytes);
          filledBytes = 0;
        }
        const takenBytes = rest.copy(collected, filledBytes);
        filledBytes += takenBytes;
        rest = rest.subarray(takenBytes);
        if (filledBytes === lengthBytes) {
          const grown = Buffer.allocUnsafe(lengthOf(collected));
          collected.copy(grown, 0, 0, lengthBytes);
          collected = grown;
        } else if (filledBytes === collected.length) {
          yield decodePacket(collected);
          collected = undefined;
        }
      }
    },
  };
}

function decodePacket(bytes: Buffer): Packet {
  return {
    program: bytes.readUInt32BE(4),
    version: bytes.readUInt32BE(8),
    procedure: bytes.readInt32BE(12),
    type: bytes.readInt32BE(16),
    serial: bytes.readUInt32BE(20),
    status: bytes.readInt32BE(24),
    payload: bytes.subarray(headerBytes),
  };
}
