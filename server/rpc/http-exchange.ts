import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { RequestHold } from "./request-hold.ts";

/** What the direct path asks of a request: an `IncomingMessage` has it, and so has an `Http2Exchange`. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns. */
  readonly rawHeaders: readonly string[];
  readonly socket: Connection;
  /** Over HTTP/2. */
  readonly stream?: ServerHttp2Stream;
  /** Whether nothing more comes of it. */
  readonly complete: boolean;
  /** Whether its `end` has passed. */
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  /** Where it is limited what it takes. */
  hold?: RequestHold | undefined;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  once(event: "end" | "close", listener: () => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "end" | "close", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** What it asks of the response: a `ServerResponse` has it, and so has an `Http2Exchange`. */
export interface HttpResponse {
  statusCode: number;
  readonly headersSent: boolean;
  /** Over HTTP/2. */
  readonly stream?: ServerHttp2Stream;
  readonly destroyed: boolean;
  readonly closed: boolean;
  readonly writable: boolean;
  readonly writableLength: number;
  readonly writableEnded: boolean;
  once(event: "close", listener: () => void): unknown;
  setHeader(name: string, value: number | string | string[]): unknown;
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown;
  addTrailers(trailers: OutgoingHttpHeaders): void;
  write(chunk: Uint8Array | string, onWritten?: (error: Error | null | undefined) => void): boolean;
  end(body?: Uint8Array | string, onEnded?: () => void): unknown;
  destroy(): unknown;
}

/** By lower-case names. */
export type AnswerHeaders = Record<string, number | string | string[]>;

/** The connection of a request. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** Whether nobody reads the response any more. */
export function isGone(response: HttpResponse): boolean {
  // Over HTTP/2 only the stream knows: the compatibility API's response has neither property.
  const { destroyed, closed } = response.stream ?? response;
  return destroyed || closed;
}

/** How long a client may go on with a request that is answered already. */
const lingerMs = 1000;
/**
 * Reads what is left of a request and drops it, for at most a second, and of a caller who is not known no more than its connection may waste.
 * @returns whether the request has come to its end
 */
export function dropRest(request: HttpRequest): Promise<boolean> {
  if (request.complete || request.destroyed) {
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      request.off("data", onData);
      request.off("end", settle);
      request.off("close", settle);
      resolve(request.complete || request.destroyed);
    };
    const onData = ({ byteLength }: Buffer) => request.hold?.drop(byteLength);
    const timer = setTimeout(settle, lingerMs);
    request.on("data", onData);
    request.once("end", settle);
    request.once("close", settle);
    request.resume();
  });
}

/**
 * Ends a response, and lets go of a request that is still coming in: cut at once the answer could be lost on
 * its way; never cut, a client that sends more than the limit would keep its HTTP/2 stream (and our memory of
 * it) for as long as it likes.
 */
export function endResponse(request: HttpRequest, response: HttpResponse, body?: Uint8Array | string): void {
  response.end(body, async () => {
    if (await dropRest(request)) {
      return;
    }
    if (request.stream !== undefined) {
      request.stream.close(constants.NGHTTP2_NO_ERROR);
    } else {
      request.destroy();
    }
  });
  request.hold?.wrote();
}
