import { frameFlag, frameHeaderBytes, frameType } from "./http2-frames.ts";

/** Payload size that every HTTP/2 server accepts, whatever it announced: RFC 9113 section 4.2. */
const maxPayloadBytes = 16384;
const priorityBytes = 5;

/**
 * Replaces the header block of a HEADERS frame and its CONTINUATION frames by the result of `rewrite`. Stream, END_STREAM and
 * priority are kept; padding is removed, and the block is split into frames again.
 *
 * Returns the same object when `rewrite` returns its argument or when the frames are malformed.
 */
export function rewriteHeaderFrames(frames: Buffer, rewrite: (block: Buffer) => Buffer): Buffer {
  const headers = parseHeaderFrames(frames);
  if (headers === undefined) {
    return frames;
  }
  const block = rewrite(headers.block);
  if (block === headers.block) {
    return frames;
  }

  const flags = headers.flags & ~(frameFlag.padded | frameFlag.endHeaders);
  const pieces: Buffer[] = [];
  let rest = Buffer.concat([headers.priority, block]);
  do {
    const payload = rest.subarray(0, maxPayloadBytes);
    rest = rest.subarray(payload.length);
    const frameHeader = Buffer.alloc(frameHeaderBytes);
    frameHeader.writeUIntBE(payload.length, 0, 3);
    frameHeader[3] = pieces.length === 0 ? frameType.headers : frameType.continuation;
    frameHeader[4] = (pieces.length === 0 ? flags : 0) | (rest.length === 0 ? frameFlag.endHeaders : 0);
    frameHeader.writeUInt32BE(headers.streamId, 5);
    pieces.push(frameHeader, payload);
  } while (rest.length > 0);
  return Buffer.concat(pieces);
}

interface HeaderFrames {
  readonly flags: number;
  readonly streamId: number;
  /** The five priority bytes of the HEADERS frame, or none. */
  readonly priority: Buffer;
  /** The concatenated fragments of all frames. */
  readonly block: Buffer;
}

function parseHeaderFrames(frames: Buffer): HeaderFrames | undefined {
  const flags = frames[4] as number;
  const streamId = frames.readUInt32BE(5);
  const firstEnd = frameHeaderBytes + frames.readUIntBE(0, 3);
  const isPadded = (flags & frameFlag.padded) !== 0;
  const hasPriority = (flags & frameFlag.priority) !== 0;
  const priorityAt = frameHeaderBytes + (isPadded ? 1 : 0);
  const fragmentAt = priorityAt + (hasPriority ? priorityBytes : 0);
  const fragmentEnd = firstEnd - (isPadded ? (frames[frameHeaderBytes] ?? 0) : 0);
  if (fragmentEnd < fragmentAt) {
    return undefined;
  }

  const fragments = [frames.subarray(fragmentAt, fragmentEnd)];
  for (let at = firstEnd; at < frames.length; ) {
    if (frames.readUInt32BE(at + 5) !== streamId) {
      return undefined;
    }
    const end = at + frameHeaderBytes + frames.readUIntBE(at, 3);
    fragments.push(frames.subarray(at + frameHeaderBytes, end));
    at = end;
  }
  const [only] = fragments;
  const block = fragments.length === 1 && only !== undefined ? only : Buffer.concat(fragments);
  return { flags, streamId, priority: frames.subarray(priorityAt, fragmentAt), block };
}
