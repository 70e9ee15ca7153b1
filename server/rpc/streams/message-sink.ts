import { constants } from "node:http2";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { messageTooLarge } from "../errors/message-too-large.ts";
import type { HttpResponse } from "../protocols/http/http-exchange.ts";
import type { Codec, SharedMessage } from "./shared-message.ts";

/** Writes messages that many streams share directly to the response of one of them. */
export interface MessageSink {
  /**
   * Writes the message after everything written before. Never waits and never throws.
   * @returns false if nothing was written: the call is over, its client has left, or more is unsent than allowed
   */
  write(message: SharedMessage): boolean;
  /**
   * Bytes written to the response by any writer that have not been sent to the client. A chunk that Node writes in one go counts
   * until its last byte is sent.
   */
  readonly unsentBytes: number;
}

/** A sink for its creator, which has to close it. */
export interface ClosableSink extends MessageSink {
  /**
   * Stops writing; the end of the stream follows. A client that has not read all of it after `lingerMs` is cut, so that its
   * buffered data is not held forever.
   */
  close(): void;
}

export interface SinkLimits {
  /** Nothing is written while more than this is unsent. */
  readonly maxUnsentBytes: number;
  /** Without the framing. A larger message ends the call. */
  readonly maxMessageBytes: number;
  readonly lingerMs: number;
}

/**
 * Creates a sink on a response whose headers are sent.
 * @param end ends the call with MESSAGE_TOO_LARGE
 * @param onWrite called for each message when it is written
 * @param onSent called for each message when its data has left
 */
export function createMessageSink(
  response: HttpResponse,
  codec: Codec,
  limits: SinkLimits,
  end: (error: InfraError) => void,
  onWrite?: () => void,
  onSent?: () => void,
): ClosableSink {
  return new ResponseSink(response, codec, limits, end, onWrite, onSent);
}

/**
 * A class, because thousands may be open: an object with closures and an accessor takes five times the memory (the benches of
 * `many-clients`).
 */
class ResponseSink implements ClosableSink {
  readonly #response: HttpResponse;
  readonly #codec: Codec;
  readonly #limits: SinkLimits;
  readonly #end: (error: InfraError) => void;
  readonly #onWrite: (() => void) | undefined;
  readonly #onSent: (() => void) | undefined;
  #isClosed = false;

  constructor(
    response: HttpResponse,
    codec: Codec,
    limits: SinkLimits,
    end: (error: InfraError) => void,
    onWrite: (() => void) | undefined,
    onSent: (() => void) | undefined,
  ) {
    this.#response = response;
    this.#codec = codec;
    this.#limits = limits;
    this.#end = end;
    this.#onWrite = onWrite;
    this.#onSent = onSent;
  }

  write(message: SharedMessage): boolean {
    const { stream } = this.#response;
    // Over HTTP/2 the response only adds cost to what its stream does.
    const target = stream ?? this.#response;
    const { maxUnsentBytes, maxMessageBytes } = this.#limits;
    // With a thousand streams memory access dominates, and these two properties touch no more of a stream than writing does. Not
    // `bufferSize`, which counts data in flight twice.
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
    target.write(frame, this.#onSent);
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
  // A reset that cannot be sent either would keep the stream and its memory.
  response.stream?.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  response.stream?.destroy();
  response.destroy();
}
