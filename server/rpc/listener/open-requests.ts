import { constants } from "node:http2";
import type { CostAccount } from "../cost-account.ts";
import type { HttpRequest, HttpResponse } from "../http-exchange.ts";
import { networkOf } from "../network-of.ts";
import type { RequestHold } from "../request-hold.ts";
import { createRing, type Link } from "../ring.ts";
import { createFairShares, type Share } from "./fair-shares.ts";
import type { UnknownConnection } from "./unknown-connections.ts";

/** Requests whose answers have not left yet. */
export interface OpenRequests {
  /** @param connection that it came by; undefined when somebody on it is known */
  hold(request: HttpRequest, response: HttpResponse, connection: UnknownConnection | undefined): RequestHold;
  close(): void;
}

export interface OpenRequestLimits {
  /** For requests whose callers are not authenticated. */
  readonly bytes: number;
  readonly bytesPerAddress: number;
  /** For a body of such a request. */
  readonly bodyMs: number;
  /** For the client to read on, besides a second for each 16 KiB that wait. */
  readonly unknownUnreadMs: number;
  readonly unreadMs: number;
}

/** What a request takes beside its body, roughly as it was measured over HTTP/2. */
const requestBytes = 16_384;
const readBytesPerMs = 16;
const sweepMs = 1000;

/** What a request that is cut counts for among what a connection may waste. */
const cutWasteBytes = 65_536;

const noShare: Share = { add() {}, release() {} };

/**
 * Limits what requests take: the time their answers wait to be read; and of those whose callers are not authenticated, or not
 * yet, memory, shared fairly by source address, and the time of their bodies.
 * @param onCut told of each request that is cut
 */
export function createOpenRequests(
  limits: OpenRequestLimits,
  onCut: (address: string | undefined, why: string) => void,
): OpenRequests {
  const shares = createFairShares({ total: limits.bytes, perKey: limits.bytesPerAddress });
  const held = createRing<Held>();
  let timer: NodeJS.Timeout | undefined;

  /** A class, as one is made for every request. */
  class Held implements RequestHold, Link {
    previous: Link | undefined;
    next: Link | undefined;
    readonly #request: HttpRequest;
    readonly #response: HttpResponse;
    #share: Share;
    /** Undefined once the caller is known. */
    #connection: UnknownConnection | undefined;
    #isKnown = false;
    #account: CostAccount | undefined;
    #unreadBytes = 0;
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
      this.#countBody(bytes);
      this.#share.add(bytes);
    }

    drop(bytes: number): void {
      this.#countBody(bytes);
      if (this.#connection?.refusesWaste(bytes) === true) {
        this.#destroyConnection();
      }
    }

    countMessage(): void {
      if (this.#connection?.refusesRequest() === true) {
        this.#destroyConnection();
      }
    }

    awaitBody(isAwaited: boolean): void {
      this.#bodySinceMs = isAwaited ? performance.now() : undefined;
    }

    identified(): void {
      this.#isKnown = true;
      this.#share.release();
      // A stream may be open for days, and what its share is made of takes as much memory as the call.
      this.#share = noShare;
      this.#connection?.identified();
      this.#connection = undefined;
    }

    chargeTo(account: CostAccount): void {
      this.#account = account;
    }

    sendsPage(bytes: number): void {
      this.#connection?.countPage(bytes);
    }

    wrote(): void {
      if (this.previous !== undefined) {
        this.#countUnread(this.#response.writableLength);
      }
    }

    left(): void {
      this.#unreadSinceMs = undefined;
    }

    release(): void {
      held.delete(this);
      this.#share.release();
      this.#countUnread(0);
    }

    keepTime(nowMs: number): void {
      this.wrote();
      this.#unreadSinceMs = this.#unreadBytes === 0 ? undefined : (this.#unreadSinceMs ?? nowMs);
      const unreadMs =
        (this.#isKnown ? limits.unreadMs : limits.unknownUnreadMs) + this.#unreadBytes / readBytesPerMs;
      if (!this.#isKnown && this.#bodySinceMs !== undefined && nowMs - this.#bodySinceMs > limits.bodyMs) {
        this.#cut("its body is late");
      } else if (this.#unreadSinceMs !== undefined && nowMs - this.#unreadSinceMs > unreadMs) {
        this.#cut("its answer is not read");
      }
    }

    #countBody(bytes: number): void {
      if (this.#connection?.refusesBody(bytes) === true) {
        this.#destroyConnection();
      }
    }

    #countUnread(bytes: number): void {
      this.#account?.hold(bytes - this.#unreadBytes);
      this.#share.add(bytes - this.#unreadBytes);
      this.#unreadBytes = bytes;
    }

    #cut(why: string): void {
      this.release();
      onCut(this.#request.socket.remoteAddress, why);
      const { stream } = this.#request;
      if (stream === undefined || this.#connection?.refusesWaste(cutWasteBytes) === true) {
        this.#destroyConnection();
        return;
      }
      // Not while Node reads the connection, which may be what has led here.
      setImmediate(() => {
        stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
        // A reset waits behind what is not read.
        stream.destroy();
      });
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
    if (held.size() === 0) {
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
