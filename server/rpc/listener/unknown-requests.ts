import { constants } from "node:http2";
import type { HttpRequest, HttpResponse } from "../http-exchange.ts";
import { networkOf } from "../network-of.ts";
import type { RequestHold } from "../request-hold.ts";
import { createFairShares, type Share } from "./fair-shares.ts";
import type { UnknownConnection } from "./unknown-connections.ts";

/** Requests whose callers are not authenticated, or not yet. */
export interface UnknownRequests {
  /** @param connection that it came by; undefined when somebody on it is known */
  hold(request: HttpRequest, response: HttpResponse, connection: UnknownConnection | undefined): RequestHold;
  close(): void;
}

export interface UnknownRequestLimits {
  readonly bytes: number;
  readonly bytesPerAddress: number;
  /** For a body. */
  readonly bodyMs: number;
  /** For an answer, besides a second for each 16 KiB of it. */
  readonly unreadMs: number;
}

/** What a request takes beside its body, roughly as it was measured over HTTP/2. */
const requestBytes = 16_384;
const readBytesPerMs = 16;
const sweepMs = 1000;

/** What a request that is cut counts for among what a connection may waste. */
const cutWasteBytes = 65_536;

/**
 * Limits what requests take whose callers are not authenticated: memory, shared fairly by source address, the time of their
 * bodies, and the time their answers wait to be read.
 * @param onCut told of each request that is cut
 */
export function createUnknownRequests(
  limits: UnknownRequestLimits,
  onCut: (address: string | undefined, why: string) => void,
): UnknownRequests {
  const shares = createFairShares({ total: limits.bytes, perKey: limits.bytesPerAddress });
  const held = new Set<Held>();
  let timer: NodeJS.Timeout | undefined;

  /** A class, as one is made for every request. */
  class Held implements RequestHold {
    readonly #request: HttpRequest;
    readonly #response: HttpResponse;
    readonly #connection: UnknownConnection | undefined;
    readonly #share: Share;
    #bodySinceMs: number | undefined;
    #unreadSinceMs: number | undefined;

    constructor(request: HttpRequest, response: HttpResponse, connection: UnknownConnection | undefined) {
      this.#request = request;
      this.#response = response;
      this.#connection = connection;
      held.add(this);
      response.once("close", () => this.release());
      const key = networkOf(request.socket.remoteAddress ?? "");
      this.#share = shares.take(key, requestBytes, () =>
        this.#cut("callers without a login take too much memory"),
      );
    }

    add(bytes: number): void {
      this.#share.add(bytes);
    }

    drop(bytes: number): void {
      if (this.#connection?.refusesWaste(bytes) === true) {
        this.#destroyConnection();
      }
    }

    awaitBody(isAwaited: boolean): void {
      this.#bodySinceMs = isAwaited ? performance.now() : undefined;
    }

    identified(): void {
      this.release();
      this.#connection?.identified();
    }

    release(): void {
      held.delete(this);
      this.#share.release();
    }

    keepTime(nowMs: number): void {
      const unsentBytes = this.#response.writableLength;
      this.#unreadSinceMs = unsentBytes === 0 ? undefined : (this.#unreadSinceMs ?? nowMs);
      if (this.#bodySinceMs !== undefined && nowMs - this.#bodySinceMs > limits.bodyMs) {
        this.#cut("its body is late");
      } else if (
        this.#unreadSinceMs !== undefined &&
        nowMs - this.#unreadSinceMs > limits.unreadMs + unsentBytes / readBytesPerMs
      ) {
        this.#cut("its answer is not read");
      }
    }

    #cut(why: string): void {
      this.release();
      onCut(this.#request.socket.remoteAddress, why);
      const { stream } = this.#request;
      if (stream === undefined || this.#connection?.refusesWaste(cutWasteBytes) === true) {
        this.#destroyConnection();
      } else {
        // Not while Node reads the connection, which may be what has led here.
        setImmediate(() => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM));
      }
    }

    #destroyConnection(): void {
      const { stream, socket } = this.#request;
      setImmediate(() => (stream?.session ?? socket).destroy());
    }
  }

  function sweep(): void {
    const now = performance.now();
    for (const one of held) {
      one.keepTime(now);
    }
    if (held.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  return {
    hold(request, response, connection) {
      timer ??= setInterval(sweep, sweepMs).unref();
      return new Held(request, response, connection);
    },
    close: () => clearInterval(timer),
  };
}
