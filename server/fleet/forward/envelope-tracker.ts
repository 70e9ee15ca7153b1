import { envelopeHeadBytes } from "../../rpc/protocols/wire/envelope.ts";

/** Follows the envelopes in bytes that pass by, in chunks of any size, without keeping the messages. */
export interface EnvelopeTracker {
  push(chunk: Uint8Array): void;
  /** Whether the next byte begins an envelope. */
  isAtBoundary(): boolean;
  /** The envelope that ends the stream; undefined until all of it has passed. */
  end(): EndEnvelope | undefined;
}

export interface EndEnvelope {
  readonly isCompressed: boolean;
  /** Undefined if it is too large to be kept. */
  readonly data: Buffer | undefined;
}

/** Largest final envelope that is kept. An error with all its details is far smaller. */
const endMaxBytes = 64 * 1024;

/** Bit of an envelope's flags that all protocols use for compression. */
const compressedBit = 1;

/**
 * @param endBit bit of the flags that marks the envelope that ends the stream; undefined where none does
 * @param onEnvelope called at the end of each other envelope
 */
export function createEnvelopeTracker(
  endBit: number | undefined,
  onEnvelope: () => void = () => {},
): EnvelopeTracker {
  const head = Buffer.alloc(envelopeHeadBytes);
  let headBytes = 0;
  let restBytes = 0;
  let kept: Buffer[] | undefined;
  let end: EndEnvelope | undefined;

  const isEnd = () => endBit !== undefined && ((head[0] ?? 0) & endBit) !== 0;

  function finishEnvelope(): void {
    headBytes = 0;
    if (isEnd()) {
      const isCompressed = ((head[0] ?? 0) & compressedBit) !== 0;
      end = { isCompressed, data: kept && Buffer.concat(kept) };
    } else {
      onEnvelope();
    }
  }

  /** Returns how many bytes of the chunk belong to the head. */
  function pushHead(chunk: Uint8Array): number {
    const part = chunk.subarray(0, envelopeHeadBytes - headBytes);
    head.set(part, headBytes);
    headBytes += part.byteLength;
    if (headBytes === envelopeHeadBytes) {
      restBytes = head.readUInt32BE(1);
      kept = isEnd() && restBytes <= endMaxBytes ? [] : undefined;
      if (restBytes === 0) {
        finishEnvelope();
      }
    }
    return part.byteLength;
  }

  function pushData(chunk: Uint8Array): number {
    const part = chunk.subarray(0, restBytes);
    // A copy: the chunk may be a part of a larger buffer.
    kept?.push(Buffer.from(part));
    restBytes -= part.byteLength;
    if (restBytes === 0) {
      finishEnvelope();
    }
    return part.byteLength;
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.byteLength; ) {
        const rest = chunk.subarray(at);
        at += headBytes < envelopeHeadBytes ? pushHead(rest) : pushData(rest);
      }
    },
    isAtBoundary: () => headBytes === 0,
    end: () => end,
  };
}
