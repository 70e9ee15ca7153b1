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
  return new ResponseSink(response, codec, limits, end, onWrite, onLeft);
}

/** A class, as thousands may be open: the functions of an object, and its accessor, take five times the memory. */
class ResponseSink implements ClosableSink {
  readonly #response: HttpResponse;
  readonly #codec: Codec;
  readonly #limits: SinkLimits;
  readonly #end: (error: InfraError) => void;
  readonly #onWrite: (() => void) | undefined;
  readonly #onLeft: (() => void) | undefined;
  #isClosed = false;

  constructor(
    response: HttpResponse,
    codec: Codec,
    limits: SinkLimits,
    end: (error: InfraError) => void,
    onWrite: (() => void) | undefined,
    onLeft: (() => void) | undefined,
  ) {
    this.#response = response;
    this.#codec = codec;
    this.#limits = limits;
    this.#end = end;
    this.#onWrite = onWrite;
    this.#onLeft = onLeft;
  }

  write(message: SharedMessage): boolean {
    const { stream } = this.#response;
    // Over HTTP/2 the response adds nothing to what its stream does, but costs.
    const target = stream ?? this.#response;
    const { maxUnsentBytes, maxMessageBytes } = this.#limits;
    // With a thousand streams it is memory that takes time, and of a stream these two need no more than writing does.
    // Not `bufferSize`, which counts twice what is on its way.
    if (this.#isClosed || !target.writable || target.writableLength > maxUnsentBytes) {
      return false;
    }
    // Over HTTP/1.1 `writable` is always true.
    if (stream === undefined && (target.destroyed || target.writableEnded)) {
      return false;
    }
    const { frame, sizeBytes } = message.encoded(this.#codec);
    if (sizeBytes > maxMessageBytes) {
      this.#end(messageTooLarge(sizeBytes, maxMessageBytes));
      return false;
    }
    target.write(frame, this.#onLeft);
    this.#onWrite?.();
    return true;
  }

  get unsentBytes(): number {
    return (this.#response.stream ?? this.#response).writableLength;
  }

  close(): void {
    this.#isClosed = true;
    if (this.unsentBytes > 0) {
      const timer = setTimeout(() => cut(this.#response), this.#limits.lingerMs).unref();
      this.#response.once("close", () => clearTimeout(timer));
    }
  }
}

function cut(response: HttpResponse): void {
  // A reset that cannot be sent either would keep the stream, and what it holds.
  response.stream?.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  response.stream?.destroy();
  response.destroy();
}
