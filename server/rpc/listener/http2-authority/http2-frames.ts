const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Length (3), type, flags, stream id (4): RFC 9113 section 4.1. */
export const frameHeaderBytes = 9;
export const frameType = { headers: 0x1, continuation: 0x9 } as const;
export const frameFlag = { endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/**
 * A larger header block is passed on unchanged. Node's own limit for request headers is the same 64 KiB, so such a request is
 * refused anyway.
 */
const maxHeldBytes = 64 * 1024;

/** Receives the parts of a connection's bytes in order. */
export interface FrameSink {
  /** Bytes to pass on unchanged: parts of any frames except HEADERS and CONTINUATION. */
  other(bytes: Buffer): void;
  /** One whole HEADERS frame and its CONTINUATION frames, including the frame headers. */
  headerFrames(frames: Buffer): void;
}

/** Finds the header blocks in what a client sends over HTTP/2, in chunks of any size. */
export interface FrameSplitter {
  /** Takes the next bytes of the client. Where possible the sink gets views of them, not copies. */
  push(chunk: Buffer): void;
  /** Called when the client has sent everything. Held bytes go to the sink unchanged. */
  end(): void;
}

/**
 * Splits a client's side of an HTTP/2 connection, from the preface on. Only a frame header or a header block is held back until
 * it is complete, at most 64 KiB. Anything that is not HTTP/2 is passed on unchanged, so that the HTTP/2 server decides about it.
 * Never throws.
 */
export function createFrameSplitter(sink: FrameSink): FrameSplitter {
  let prefaceAt = 0;
  let isHttp2 = true;
  /** Payload bytes of the current frame that are still to be passed on. */
  let passLeft = 0;
  /** Held bytes; heldLength of them are filled, and heldTarget are needed. */
  let held = Buffer.alloc(0);
  let heldLength = 0;
  let heldTarget = frameHeaderBytes;
  /** Offset in `held` of the frame that is not complete yet. */
  let frameAt = 0;

  function hold(bytes: Buffer): void {
    if (held.length < heldTarget) {
      // Doubling the buffer avoids a copy for each of many tiny CONTINUATION frames.
      const larger = Buffer.allocUnsafe(Math.max(heldTarget, held.length * 2));
      held.copy(larger, 0, 0, heldLength);
      held = larger;
    }
    bytes.copy(held, heldLength);
    heldLength += bytes.length;
  }

  function release(to: (bytes: Buffer) => void): void {
    const bytes = held.subarray(0, heldLength);
    // The sink keeps the bytes, so the next ones need a new buffer.
    held = Buffer.alloc(0);
    heldLength = 0;
    heldTarget = frameHeaderBytes;
    frameAt = 0;
    if (bytes.length > 0) {
      to(bytes);
    }
  }

  /** Called when `held` has all required bytes: a frame header, or a whole frame. */
  function processHeld(): void {
    const isWholeFrame = heldLength - frameAt > frameHeaderBytes;
    const payloadLength = isWholeFrame ? 0 : held.readUIntBE(frameAt, 3);
    const expectedType = frameAt === 0 ? frameType.headers : frameType.continuation;
    const isLastFrame = ((held[frameAt + 4] as number) & frameFlag.endHeaders) !== 0;
    if (held[frameAt + 3] !== expectedType || heldLength + payloadLength > maxHeldBytes) {
      passLeft = payloadLength;
      release(sink.other);
    } else if (payloadLength > 0) {
      heldTarget += payloadLength;
    } else if (isLastFrame) {
      release(sink.headerFrames);
    } else {
      frameAt = heldLength;
      heldTarget += frameHeaderBytes;
    }
  }

  /** Returns the length of the complete header frame at `at` if it needs no CONTINUATION, else 0. */
  function wholeHeadersAt(chunk: Buffer, at: number): number {
    const flags = chunk[at + 4] as number;
    const length = frameHeaderBytes + chunk.readUIntBE(at, 3);
    const isWhole = (flags & frameFlag.endHeaders) !== 0 && at + length <= chunk.length;
    return isWhole && length <= maxHeldBytes ? length : 0;
  }

  function skipPreface(chunk: Buffer): number {
    const length = Math.min(preface.length - prefaceAt, chunk.length);
    isHttp2 = preface.compare(chunk, 0, length, prefaceAt, prefaceAt + length) === 0;
    prefaceAt += length;
    return length;
  }

  return {
    push(chunk) {
      // chunk[passFrom..at) is processed but not passed on yet. It is empty while bytes are held.
      let passFrom = 0;
      let at = prefaceAt < preface.length && isHttp2 ? skipPreface(chunk) : 0;
      if (!isHttp2) {
        return sink.other(chunk);
      }
      const pass = () => {
        if (passFrom < at) {
          sink.other(passFrom === 0 && at === chunk.length ? chunk : chunk.subarray(passFrom, at));
        }
        passFrom = at;
      };
      while (at < chunk.length) {
        const left = chunk.length - at;
        if (passLeft > 0) {
          const length = Math.min(passLeft, left);
          passLeft -= length;
          at += length;
        } else if (heldLength === 0 && left >= frameHeaderBytes && chunk[at + 3] !== frameType.headers) {
          passLeft = chunk.readUIntBE(at, 3);
          at += frameHeaderBytes;
        } else {
          pass();
          const whole = heldLength === 0 && left >= frameHeaderBytes ? wholeHeadersAt(chunk, at) : 0;
          if (whole > 0) {
            sink.headerFrames(chunk.subarray(at, at + whole));
            at += whole;
          } else {
            const length = Math.min(heldTarget - heldLength, left);
            hold(chunk.subarray(at, at + length));
            at += length;
            if (heldLength === heldTarget) {
              processHeld();
            }
          }
          passFrom = at;
        }
      }
      pass();
    },
    end() {
      release(sink.other);
    },
  };
}
