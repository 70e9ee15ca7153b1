import type { MessageInitShape } from "@bufbuild/protobuf";
import { isSettledWithin } from "../../../adapters/host/is-settled-within.ts";
import type { CarryStreamsResponseSchema } from "../../../gen/hostplane/v1/stream_pb.ts";

export type CarrierMessage = MessageInitShape<typeof CarryStreamsResponseSchema>;

/** A part of an answer on its way to the carrier's client. */
interface Part {
  readonly message: CarrierMessage;
  readonly sizeBytes: number;
  /** Called when the part is handed to the connection, or discarded since the carrier has ended. */
  readonly onSent: ((error?: Error) => void) | undefined;
}

/** One stream that carries the answers of many calls. */
export interface Carrier {
  /** Bytes of all answers that are not handed to the connection yet. */
  readonly unsentBytes: number;
  readonly isClosed: boolean;
  /** Adds a part of an answer after all others. */
  send(message: CarrierMessage, sizeBytes?: number, onSent?: (error?: Error) => void): void;
  /** Registers a call. Returns false if its number is in use. */
  add(stream: number, end: () => void): boolean;
  delete(stream: number): void;
  /** Ends a call; does nothing if it has ended. */
  end(stream: number): void;
  /** Yields the parts in order, and a heartbeat after each silence. Ends when the signal is aborted, and all calls with it. */
  messages(signal: AbortSignal): AsyncGenerator<CarrierMessage, void>;
}

/** @param heartbeatMs silence after which there is a heartbeat */
export function createCarrier(heartbeatMs: number): Carrier {
  const calls = new Map<number, () => void>();
  const parts: Part[] = [];
  let unsentBytes = 0;
  let isClosed = false;
  let wake = () => {};

  function close(): void {
    isClosed = true;
    for (const end of [...calls.values()]) {
      end();
    }
    for (const { onSent } of parts.splice(0)) {
      onSent?.(new Error("the carrier has ended"));
    }
    unsentBytes = 0;
  }

  return {
    get unsentBytes() {
      return unsentBytes;
    },
    get isClosed() {
      return isClosed;
    },
    send(message, sizeBytes = 0, onSent) {
      if (isClosed) {
        onSent?.(new Error("the carrier has ended"));
        return;
      }
      unsentBytes += sizeBytes;
      parts.push({ message, sizeBytes, onSent });
      wake();
    },
    add(stream, end) {
      if (calls.has(stream)) {
        return false;
      }
      calls.set(stream, end);
      return true;
    },
    delete: (stream) => void calls.delete(stream),
    end: (stream) => calls.get(stream)?.(),
    async *messages(signal) {
      const onAbort = () => wake();
      signal.addEventListener("abort", onAbort);
      try {
        while (!signal.aborted) {
          const part = parts.shift();
          if (part !== undefined) {
            yield part.message;
            unsentBytes -= part.sizeBytes;
            part.onSent?.();
            continue;
          }
          const woken = new Promise<void>((resolve) => {
            wake = resolve;
          });
          if (!(await isSettledWithin(woken, heartbeatMs))) {
            yield { message: { case: "heartbeat", value: {} } };
          }
        }
      } finally {
        signal.removeEventListener("abort", onAbort);
        close();
      }
    },
  };
}
