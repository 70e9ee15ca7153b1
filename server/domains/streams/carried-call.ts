import { randomUUID } from "node:crypto";
import { createAsyncIterable, type UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { Call } from "../../rpc/call/call.ts";
import { requestIdHeader } from "../../rpc/call/request-facts.ts";
import type { Handle } from "../../rpc/protocols/http/serve.ts";
import type { CarriedResponse } from "./carried-response.ts";

/** Headers that describe the body or the connection of the call that starts another one. */
const ownHeaders = /^(content-|connect-|grpc-|transfer-encoding$|accept-encoding$|connection$|te$|:)/;

/** The request of a call that is started on a carrier. */
export interface CarriedRequest {
  /** Path of the method. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/**
 * Makes a call with the headers of another one, and writes its answer at the pace of the response. Resolves when the answer has
 * ended, whatever ended it.
 * @param signal ends the call
 */
export async function makeCarriedCall(
  handle: Handle,
  { path, contentType, body }: CarriedRequest,
  starter: Pick<Call, "header" | "headerNames" | "peer">,
  response: CarriedResponse,
  signal: AbortSignal,
): Promise<void> {
  const requestId = randomUUID();
  const header = new Headers({ "content-type": contentType, "connect-protocol-version": "1" });
  for (const name of starter.headerNames()) {
    if (!ownHeaders.test(name)) {
      header.set(name, starter.header(name) ?? "");
    }
  }
  const request: UniversalServerRequest = {
    httpVersion: starter.peer.httpVersion,
    method: "POST",
    url: `http://gateway${path}`,
    header,
    body: createAsyncIterable([body]),
    signal,
  };
  try {
    const facts = { peer: starter.peer, requestId, response };
    const answer = await handle(request, facts);
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
