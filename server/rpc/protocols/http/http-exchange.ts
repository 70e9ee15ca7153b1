import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
} from "node:http2";
import type { RequestUsage } from "../../call/request-usage.ts";

/** The part of a request that the gateway uses; both `IncomingMessage` and `Http2Exchange` have it. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly socket: Connection;
  /** Only over HTTP/2. */
  readonly stream?: ServerHttp2Stream;
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  /** Whether its `end` event has been emitted. */
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  /** Present if the request's use of resources is limited. */
  usage?: RequestUsage | undefined;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  once(event: "end" | "close", listener: () => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "end" | "close", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** The part of a response that the gateway uses; both `ServerResponse` and `Http2Exchange` have it. */
export interface HttpResponse {
  statusCode: number;
  readonly headersSent: boolean;
  /** Only over HTTP/2. */
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

/**
 * A request and its response as node:http provides them. Over HTTP/2 they come from its compatibility API, which has the same
 * methods; only `stream` is specific to HTTP/2.
 */
export type NodeRequest = IncomingMessage &
  Partial<Pick<Http2ServerRequest, "stream">> &
  Pick<HttpRequest, "usage">;
export type NodeResponse = ServerResponse & Partial<Pick<Http2ServerResponse, "stream">>;

/** By lower-case name. */
export type AnswerHeaders = Record<string, number | string | string[]>;

/** The connection of a request. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** Returns `host:port` as sent by the client, in lower case; empty if it sent none. */
export function authorityOf({ headers }: HttpRequest): string {
  return String(headers[":authority"] ?? headers.host ?? "").toLowerCase();
}

/** Reports whether the response has no reader any more. */
export function isGone(response: HttpResponse): boolean {
  // Over HTTP/2 only the stream has this state: the compatibility API's response has neither property.
  const { destroyed, closed } = response.stream ?? response;
  return destroyed || closed;
}

/** How long a client may continue a request that is already answered. */
const lingerMs = 1000;
/**
 * Reads and discards the rest of a request, for at most a second. From an unknown caller it discards at most what the connection
 * may waste.
 * @returns whether the request has ended
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
    const onData = ({ byteLength }: Buffer) => request.usage?.drop(byteLength);
    const timer = setTimeout(settle, lingerMs);
    request.on("data", onData);
    request.once("end", settle);
    request.once("close", settle);
    request.resume();
  });
}

/**
 * Ends a response, and stops reading a request that is still arriving. If it were cut at once the answer could get lost; if it
 * were never cut, a client that sends more than the limit could keep its HTTP/2 stream, and its memory here, for as long as it
 * likes.
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
  request.usage?.onWritten();
}
