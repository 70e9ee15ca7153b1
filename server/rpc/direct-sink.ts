import { constants } from "node:http2";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { HttpResponse } from "./http-exchange.ts";
import { messageTooLarge } from "./message-too-large.ts";
import type { Codec, SharedMessage } from "./shared-message.ts";

/** Writes messages that many streams share straight to the response of one of them. */
export interface DirectSink {
  /**
   * Writes the message behind everything that was written before. Never waits and never throws.
   * @returns false when nothing was written: the call is over, its client has left, or more is unsent than is allowed
   */
  write(message: SharedMessage): boolean;
  /**
   * Bytes written to the response, by whomever, that have not left for the client. What Node hands on in one go counts
   * until the last byte of it has left.
   */
  readonly unsentBytes: number;
}

/** A sink for who made it, and will close it. */
export interface ClosableSink extends DirectSink {
  /**
   * Writes nothing from now on: what ends the stream comes next. A client that has not taken all of it after
   * `lingerMs` is cut, so that what waits for it does not wait forever.
   */
  close(): void;
}

export interface SinkLimits {
  /** With more than that unsent, nothing is written. */
  readonly maxUnsentBytes: number;
  /** Without what frames it; a larger message ends the call. */
  readonly maxMessageBytes: number;
  readonly lingerMs: number;
}

/**
 * A sink on a response whose headers are out.
 * @param end ends the call with MESSAGE_TOO_LARGE
 * @param onWrite called with each message that was written
 * @param onLeft called when one has been written
 */
export function createDirectSink(
  response: HttpResponse,
  codec: Codec,
  limits: SinkLimits,
  end: (error: InfraError) => void,
  onWrite?: () => void,
  onLeft?: () => void,
): ClosableSink {
  const { stream } = response;
  // Over HTTP/2 the response adds nothing to what its stream does, but costs.
  const target = stream ?? response;
  const { maxUnsentBytes, maxMessageBytes } = limits;
  let isClosed = false;
  return {
    write(message) {
      // With a thousand streams it is memory that takes time, and of a stream these two need no more than writing does.
      // Not `bufferSize`, which counts twice what is on its way.
      if (isClosed || !target.writable || target.writableLength > maxUnsentBytes) {
        return false;
      }
      // Over HTTP/1.1 `writable` is always true.
      if (stream === undefined && (target.destroyed || target.writableEnded)) {
        return false;
      }
      const { frame, sizeBytes } = message.encoded(codec);
      if (sizeBytes > maxMessageBytes) {
        end(messageTooLarge(sizeBytes, maxMessageBytes));
        return false;
      }
      target.write(frame, onLeft);
      onWrite?.();
      return true;
    },
    get unsentBytes() {
      return target.writableLength;
    },
    close() {
      isClosed = true;
      if (target.writableLength > 0) {
        const timer = setTimeout(() => cut(response), limits.lingerMs).unref();
        response.once("close", () => clearTimeout(timer));
      }
    },
  };
}

function cut(response: HttpResponse): void {
  // A reset that cannot be sent either would keep the stream, and what it holds.
  response.stream?.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  response.stream?.destroy();
  response.destroy();
}
