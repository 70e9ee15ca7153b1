import { constants } from "node:http2";
import { networkOf } from "../../../config/address-range.ts";
import type { CostAccount } from "../../call/cost-account.ts";
import type { RequestUsage } from "../../call/request-usage.ts";
import { createRing, type RingElement } from "../../call/ring.ts";
import type { HttpRequest, HttpResponse } from "../../protocols/http/http-exchange.ts";
import { createFairShares, type Share } from "./fair-shares.ts";
import type { UnknownConnection } from "./unknown-connection.ts";

/** Requests whose answers are not fully sent. */
export interface OpenRequests {
  /** @param connection of the request; undefined if one of its callers is known */
  track(
    request: HttpRequest,
    response: HttpResponse,
    connection: UnknownConnection | undefined,
  ): RequestUsage;
  close(): void;
}

export interface OpenRequestLimits {
  /** Memory limits for requests of unauthenticated callers. */
  readonly bytes: number;
  readonly bytesPerAddress: number;
  /** Time limit for the body of such a request. */
  readonly bodyMs: number;
  /** How long an answer may wait for its client to read, plus one second for each 16 KiB that wait. */
  readonly unknownUnreadMs: number;
  readonly unreadMs: number;
}

/** Memory of a request besides its body, as roughly measured over HTTP/2. */
const requestBytes = 16_384;
const readBytesPerMs = 16;
const sweepMs = 1000;

/** How much a cut request counts towards the waste of its connection. */
const cutWasteBytes = 65_536;

const noShare: Share = { add() {}, release() {} };

/**
 * Limits the resources of requests: the time that answers wait to be read, and, for callers that are not (or not yet)
 * authenticated, memory, which source addresses share fairly, and the time of bodies.
 * @param onCut called for each request that is cut
 */
export function createOpenRequests(
  limits: OpenRequestLimits,
  onCut: (address: string | undefined, why: string) => void,
): OpenRequests {
  const shares = createFairShares({ total: limits.bytes, perKey: limits.bytesPerAddress });
  const tracked = createRing<TrackedRequest>();
  let timer: NodeJS.Timeout | undefined;

  /** A class, because one is created for every request. */
  class TrackedRequest implements RequestUsage, RingElement {
    previous: RingElement | undefined;
    next: RingElement | undefined;
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
      tracked.add(this);
      response.once("close", () => this.release());
      const key = networkOf(request.socket.remoteAddress ?? "");
      this.#share = shares.take(key, requestBytes, () =>
        this.#cut("callers without a login use too much memory"),
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
      // A stream may be open for days, and the share takes as much memory as the call.
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

    onWritten(): void {
      if (this.previous !== undefined) {
        this.#countUnread(this.#response.writableLength);
      }
    }

    onSent(): void {
      this.#unreadSinceMs = undefined;
    }

    release(): void {
      tracked.delete(this);
      this.#share.release();
      this.#countUnread(0);
    }

    checkTime(nowMs: number): void {
      this.onWritten();
      this.#unreadSinceMs = this.#unreadBytes === 0 ? undefined : (this.#unreadSinceMs ?? nowMs);
      const unreadMs =
        (this.#isKnown ? limits.unreadMs : limits.unknownUnreadMs) + this.#unreadBytes / readBytesPerMs;
      if (!this.#isKnown && this.#bodySinceMs !== undefined && nowMs - this.#bodySinceMs > limits.bodyMs) {
        this.#cut("its body was not received in time");
      } else if (this.#unreadSinceMs !== undefined && nowMs - this.#unreadSinceMs > unreadMs) {
        this.#cut("its answer was not read in time");
      }
    }

    #countBody(bytes: number): void {
      if (this.#connection?.refusesBody(bytes) === true) {
        this.#destroyConnection();
      }
    }

    #countUnread(bytes: number): void {
      this.#account?.addUnread(bytes - this.#unreadBytes);
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
      // Not while Node is reading the connection, which may have led here.
      setImmediate(() => {
        stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
        // The reset waits behind data that the client does not read.
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
    for (const one of tracked) {
      one.checkTime(now);
    }
    if (tracked.size() === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  return {
    track(request, response, connection) {
      timer ??= setInterval(sweep, sweepMs).unref();
      return new TrackedRequest(request, response, connection);
    },
    close: () => clearInterval(timer),
  };
}
