import type { NodeResponse } from "./node-adapter.ts";
import type { Codec, SharedMessage } from "./shared-message.ts";

/** Writes messages that many streams share straight to the response of one of them. */
export interface DirectSink {
  /**
   * Writes the message behind everything that was written before. Never waits and never throws.
   * @returns false when nothing was written: the call is over, its client has left, or more is unsent than is allowed
   */
  write(message: SharedMessage): boolean;
  /** Bytes written to the response, by whomever, that have not left for the client. */
  readonly unsentBytes: number;
}

/** A sink for who made it, and will close it. */
export interface ClosableSink extends DirectSink {
  /** Writes nothing from now on: what ends the stream comes next. */
  close(): void;
}

/**
 * A sink on a response whose headers are out.
 * @param maxUnsentBytes with more than that unsent, nothing is written
 */
export function createDirectSink(response: NodeResponse, codec: Codec, maxUnsentBytes: number): ClosableSink {
  const { stream } = response;
  // The response of the compatibility API adds nothing to what its stream does, but costs.
  const target = stream ?? response;
  let isClosed = false;
  return {
    write(message) {
      if (isClosed || target.destroyed || target.closed || target.writableEnded) {
        return false;
      }
      if (target.writableLength > maxUnsentBytes) {
        return false;
      }
      target.write(message.frame(codec));
      return true;
    },
    get unsentBytes() {
      return target.writableLength;
    },
    close: () => {
      isClosed = true;
    },
  };
}
