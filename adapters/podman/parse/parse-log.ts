import type { LogPiece } from "../adapter.ts";
import { notUnderstood } from "../errors.ts";
import { createTimeReader } from "./parse-time.ts";

const headerBytes = 8;
// Podman sends frames of about 8 KiB. An unreasonable length means that the data has no frames.
const maxFrameBytes = 16 * 1024 * 1024;
// The longest time is `2026-11-21T15:29:23.123456789+01:00`.
const maxTimeBytes = 35;
const space = 0x20;
const newline = 0x0a;

/**
 * Creates a streaming decoder for the reply to `containers/ID/logs?timestamps=true`. A frame is a header of eight bytes
 * (1 for stdout or 2 for stderr, three zeros, the length in big endian) and one record of the container's log: a time,
 * a space, and a line or a part of one. Long lines come in parts of 8 KiB, each with a time of its own: `01 000000
 * 00002015 "2026-11-21T15:29:23Z aaaa…"`; only the last part ends with a newline. A line that the program left
 * unfinished has none either. The frames of a container with a terminal look the same.
 * @throws InfraError PODMAN_FAILED for anything else
 */
export function createLogDecoder(): (chunk: Uint8Array) => LogPiece[] {
  // The received bytes of an incomplete frame, and the size at which decoding is tried again.
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let neededBytes = headerBytes;
  const timeOf = createTimeReader();

  return (chunk) => {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < neededBytes) {
      return [];
    }
    const bytes = pending.length === 1 ? chunk : Buffer.concat(pending, pendingBytes);
    const pieces: LogPiece[] = [];
    let from = 0;
    neededBytes = headerBytes;
    while (bytes.length - from >= headerBytes) {
      const length = lengthOf(bytes, from);
      const end = from + headerBytes + length;
      if (end > bytes.length) {
        neededBytes = headerBytes + length;
        break;
      }
      pieces.push(pieceOf(bytes[from] ?? 0, bytes.subarray(from + headerBytes, end), timeOf));
      from = end;
    }
    pendingBytes = bytes.length - from;
    pending = pendingBytes === 0 ? [] : [bytes.subarray(from)];
    return pieces;
  };
}

function lengthOf(bytes: Uint8Array, at: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, headerBytes);
  const length = view.getUint32(4);
  const stream = view.getUint8(0);
  const zeros = view.getUint32(0) & 0xffffff;
  if ((stream !== 1 && stream !== 2) || zeros !== 0 || length > maxFrameBytes) {
    throw notUnderstood("logs", "the data is not a log frame");
  }
  return length;
}

function pieceOf(stream: number, frame: Uint8Array, timeOf: (text: string) => bigint | undefined): LogPiece {
  const at = frame.subarray(0, maxTimeBytes + 1).indexOf(space);
  const time = Buffer.from(frame.buffer, frame.byteOffset, Math.max(0, at)).toString("latin1");
  const timeNs = timeOf(time);
  if (timeNs === undefined) {
    throw notUnderstood("logs", "a line has no time");
  }
  const endsLine = frame.length > at + 1 && frame[frame.length - 1] === newline;
  return {
    stream: stream === 1 ? "stdout" : "stderr",
    timeNs,
    bytes: frame.subarray(at + 1, endsLine ? -1 : undefined),
    endsLine,
  };
}
