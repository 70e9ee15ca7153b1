const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Length (3), type, flags, stream id (4): RFC 9113 section 4.1. */
export const frameHeaderBytes = 9;
export const frameType = { headers: 0x1, continuation: 0x9 } as const;
export const frameFlag = { endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/**
 * Above this a header block is passed on as it is. Node's own limit for a request's headers is the same
 * 64 KiB, so such a request is refused anyway.
 */
const maxHeldBytes = 64 * 1024;

/** Where the parts of a connection's bytes go, in their order. */
export interface FrameSink {
  /** Bytes to pass on as they are: any part of any frames but HEADERS and CONTINUATION. */
  other(bytes: Buffer): void;
  /** One whole HEADERS frame and the CONTINUATION frames that belong to it, headers included. */
  headerFrames(frames: Buffer): void;
}

/** Takes what a client sends over HTTP/2, in chunks of any size, and finds its header blocks. */
export interface FrameSplitter {
  /** The next bytes of the client. The sink gets views of them, not copies, where that is possible. */
  push(chunk: Buffer): void;
  /** The client sends no more: what was held back goes to the sink as it is. */
  end(): void;
}

/**
 * Splits a client's side of an HTTP/2 connection, preface first. What is held back until its frames are
 * complete is a frame header or a header block, at most 64 KiB. What is not HTTP/2 is passed on untouched, for
 * the HTTP/2 server to judge. Never throws.
 */
export function createFrameSplitter(sink: FrameSink): FrameSplitter {
  let prefaceAt = 0;
  let isHttp2 = true;
  /** Bytes of the current frame's payload that are still to be passed on. */
  let passLeft = 0;
  /** What is held back, the first heldLength bytes of it, until there are heldTarget. */
  let held = Buffer.alloc(0);
  let heldLength = 0;
  let heldTarget = frameHeaderBytes;
  /** Where in `held` the frame begins that is not complete yet. */
  let frameAt = 0;

  function hold(bytes: Buffer): void {
    if (held.length < heldTarget) {
      // Doubling: a block of many tiny CONTINUATION frames must not be copied again for each.
      const larger = Buffer.allocUnsafe(Math.max(heldTarget, held.length * 2));
      held.copy(larger, 0, 0, heldLength);
      held = larger;
    }
    bytes.copy(held, heldLength);
    heldLength += bytes.length;
  }

  function release(to: (bytes: Buffer) => void): void {
    const bytes = held.subarray(0, heldLength);
    // The sink keeps the bytes, so the next ones need memory of their own.
    held = Buffer.alloc(0);
    heldLength = 0;
    heldTarget = frameHeaderBytes;
    frameAt = 0;
    if (bytes.length > 0) {
      to(bytes);
    }
  }

  /** Called when `held` has all that was waited for: a frame's header, or the frame. */
  function judgeHeld(): void {
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

  /** The length of the complete header frame at `at`, if there is one that needs no CONTINUATION; else 0. */
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
      // chunk[passFrom..at) is seen and not yet passed on; it is empty while something is held back.
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
              judgeHeld();
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
