import { randomUUID } from "node:crypto";
import { createAsyncIterable, type UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { Call, Peer } from "../../rpc/call/call.ts";
import { requestIdHeader } from "../../rpc/call/request-facts.ts";
import type { Handle } from "../../rpc/protocols/http/serve.ts";
import type { CarriedResponse } from "./carried-response.ts";

/** Headers that describe the body or the connection of the call that starts another one. */
const ownHeaders = /^(content-|connect-|grpc-|transfer-encoding$|accept-encoding$|connection$|te$|:)/;

/** The request of a call on a carrier. */
export interface CarriedRequest {
  /** Path of the method. */
  readonly path: string;
  readonly header: Headers;
  readonly body: Uint8Array;
  readonly peer: Peer;
}

/** Returns the headers of a call that another one starts: the same, except those of the body. */
export function carriedHeader(starter: Pick<Call, "header" | "headerNames">, contentType: string): Headers {
  const header = new Headers({ "content-type": contentType, "connect-protocol-version": "1" });
  for (const name of starter.headerNames()) {
    if (!ownHeaders.test(name)) {
      header.set(name, starter.header(name) ?? "");
    }
  }
  return header;
}

/**
 * Makes a call, and writes its answer at the pace of the response. Resolves when the answer has ended, whatever ended it.
 * @param signal ends the call
 */
export async function makeCarriedCall(
  handle: Handle,
  { path, header, body, peer }: CarriedRequest,
  response: CarriedResponse,
  signal: AbortSignal,
): Promise<void> {
  const requestId = randomUUID();
  const request: UniversalServerRequest = {
    httpVersion: peer.httpVersion,
    method: "POST",
    url: `http://gateway${path}`,
    header,
    body: createAsyncIterable([body]),
    signal,
  };
  try {
    const answer = await handle(request, { peer, requestId, response });
    const chunks = answer.body?.[Symbol.asyncIterator]();
    try {
      let chunk = await chunks?.next();
      // The headers are complete when the first part of the body is there.
      response.begin(answer.status, {
        ...Object.fromEntries(answer.header ?? []),
        [requestIdHeader]: requestId,
      });
      while (chunk !== undefined && chunk.done !== true && response.writable && !signal.aborted) {
        await written(response, chunk.value);
        chunk = await chunks?.next();
      }
    } finally {
      await chunks?.return?.();
    }
  } finally {
    response.end();
  }
}

/** Waits until the chunk is handed to the carrier's connection, so that a slow client gets the newest state next. */
function written(response: CarriedResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => void response.write(chunk, () => resolve()));
}
