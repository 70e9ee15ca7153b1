import { EventEmitter } from "node:events";
import type { HttpResponse } from "../../rpc/protocols/http/http-exchange.ts";
import type { Carrier } from "./carrier.ts";

/** A larger chunk is sent in several parts, so that the answers of other calls come in between. */
const partMaxBytes = 64 * 1024;

/** The response of a call whose answer goes to a carrier. `close` is emitted when it has ended or the carrier has. */
export interface CarriedResponse extends HttpResponse {
  /** Writes the head. */
  begin(status: number, headers: Readonly<Record<string, string>>): void;
}

/** @param stream number of the call on the carrier */
export function createCarriedResponse(carrier: Carrier, stream: number): CarriedResponse {
  const events = new EventEmitter();
  let headersSent = false;
  let isEnded = false;

  function end(): void {
    if (!isEnded) {
      isEnded = true;
      carrier.send({ message: { case: "end", value: { stream } } });
      events.emit("close");
    }
  }

  function begin(status: number, headers: Readonly<Record<string, string>>): void {
    headersSent = true;
    carrier.send({ message: { case: "head", value: { stream, status, headers } } });
  }

  return {
    statusCode: 200,
    get headersSent() {
      return headersSent;
    },
    get destroyed() {
      return isEnded || carrier.isClosed;
    },
    get closed() {
      return isEnded || carrier.isClosed;
    },
    get writable() {
      return !isEnded && !carrier.isClosed;
    },
    get writableEnded() {
      return isEnded;
    },
    // Of all calls on the carrier: its client reads none of them faster than the others.
    get writableLength() {
      return carrier.unsentBytes;
    },
    begin,
    once: (event, listener) => events.once(event, listener),
    setHeader: () => {},
    writeHead: (status) => begin(status, {}),
    addTrailers: () => {},
    write(chunk, onWritten) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      for (let at = 0; at < bytes.byteLength; at += partMaxBytes) {
        const data = bytes.subarray(at, at + partMaxBytes) as Uint8Array<ArrayBuffer>;
        const isLast = at + partMaxBytes >= bytes.byteLength;
        const message = { case: "data", value: { stream, data } } as const;
        carrier.send({ message }, data.byteLength, isLast ? onWritten : undefined);
      }
      return false;
    },
    end,
    destroy: end,
  };
}
