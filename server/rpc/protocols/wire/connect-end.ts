import type { ConnectError } from "@connectrpc/connect";
import { endStreamFlag, endStreamToJson, errorToJson } from "@connectrpc/connect/protocol-connect";
import { envelopeOf } from "./envelope.ts";

/** Returns the body of an error of a unary Connect call: JSON with its code, message and details. */
export function connectErrorBody(error: ConnectError): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify(errorToJson(error, undefined)));
}

/** Returns the envelope that ends a Connect stream, with its trailers and its error, if it has one. */
export function connectStreamEnd(trailers: Headers | undefined, error: ConnectError | undefined): Buffer {
  // The first `new Headers()` of a process loads Node's `fetch`, which takes 15 MB of memory.
  const end =
    trailers === undefined
      ? { ...(error && { error: errorToJson(error, undefined) }) }
      : endStreamToJson(trailers, error, undefined);
  return envelopeOf(Buffer.from(JSON.stringify(end)), endStreamFlag);
}
