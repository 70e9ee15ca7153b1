/** The part of HTTP/2 (RFC 9113) that a client of server streams needs. Of responses it reads only the DATA frames. */

export const frameHeaderBytes = 9;
export const frameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  window: 8,
} as const;
export const frameFlag = { endStream: 1, ack: 1, endHeaders: 4 } as const;

/** A received frame. The payload is a view of the connection's buffer. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export function encodeFrame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(frameHeaderBytes + payload.length);
  frame.writeUIntBE(payload.length, 0, 3);
  frame[3] = type;
  frame[4] = flags;
  frame.writeUInt32BE(streamId, 5);
  frame.set(payload, frameHeaderBytes);
  return frame;
}

const maxWindowBytes = 2 ** 31 - 1;
const defaultWindowBytes = 65_535;
const initialWindowSize = 4;

/** Returns what a client sends first. Its windows are so large that they are never used up. */
export function encodePreface(): Buffer {
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(initialWindowSize, 0);
  settings.writeUInt32BE(maxWindowBytes, 2);
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(maxWindowBytes - defaultWindowBytes);
  return Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    encodeFrame(frameType.settings, 0, 0, settings),
    encodeFrame(frameType.window, 0, 0, increment),
  ]);
}

/** Parses frames from chunks of any size. */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= frameHeaderBytes) {
      const end = at + frameHeaderBytes + bytes.readUIntBE(at, 3);
      if (end > bytes.length) {
        break;
      }
      const type = bytes[at + 3] ?? 0;
      const flags = bytes[at + 4] ?? 0;
      const streamId = bytes.readUInt32BE(at + 5);
      onFrame({ type, flags, streamId, payload: bytes.subarray(at + frameHeaderBytes, end) });
      at = end;
    }
    rest = bytes.subarray(at);
  };
}

/**
 * Encodes a header list (RFC 7541, 6.2) as literals, without Huffman codes and without references to a table.
 */
export function encodeHeaders(headers: Readonly<Record<string, string>>, isIndexed: boolean): Buffer {
  // With incremental indexing, as browsers send headers that every request repeats: the server then keeps them in its table.
  const representation = Buffer.from([isIndexed ? 0x40 : 0]);
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      representation,
      encodeString(name),
      encodeString(value),
    ]),
  );
}

function encodeString(text: string): Buffer {
  if (text.length > 126) {
    throw new RangeError(`a header of ${text.length} bytes needs a longer length`);
  }
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}
