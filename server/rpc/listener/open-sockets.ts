import type { Socket } from "node:net";
import type { NodeRequest, NodeResponse } from "../protocols/http/http-exchange.ts";

interface OpenSocket {
  /** `silent` until the first bytes show the protocol. */
  protocol: "silent" | "http1" | "http2";
  /** HTTP/1.1 requests whose response is open. */
  requestCount: number;
}

/** Tracks a listener's connections, so that it can end them: Node does not track those that never sent a request. */
export interface OpenSockets {
  add(socket: Socket): void;
  setProtocol(socket: Socket, protocol: "http1" | "http2"): void;
  /** Counts a request on its HTTP/1.1 connection for as long as its response is open. */
  addRequest(request: NodeRequest, response: NodeResponse): void;
  /**
   * Ends silent and idle connections now, and busy HTTP/1.1 connections after their response. HTTP/2 connections are ended by
   * their sessions.
   */
  drain(): void;
  /** Resolves when no connection is left, after `timeoutMs` at the latest. */
  waitUntilEmpty(timeoutMs: number): Promise<void>;
  destroy(): void;
}

/** Starts without connections. */
export function createOpenSockets(): OpenSockets {
  const sockets = new Map<Socket, OpenSocket>();
  let isDraining = false;
  let onEmpty = () => {};
  return {
    add(socket) {
      sockets.set(socket, { protocol: "silent", requestCount: 0 });
      socket.once("close", () => {
        sockets.delete(socket);
        if (sockets.size === 0) {
          onEmpty();
        }
      });
    },
    setProtocol(socket, protocol) {
      const open = sockets.get(socket);
      if (open !== undefined) {
        open.protocol = protocol;
      }
    },
    addRequest(request, response) {
      const open = sockets.get(request.socket);
      if (open === undefined || open.protocol === "http2") {
        return;
      }
      open.requestCount += 1;
      response.once("close", () => {
        open.requestCount -= 1;
        if (isDraining && open.requestCount === 0) {
          request.socket.destroySoon();
        }
      });
    },
    drain() {
      isDraining = true;
      for (const [socket, { protocol, requestCount }] of sockets) {
        if (protocol === "silent") {
          socket.destroy();
        } else if (protocol === "http1" && requestCount === 0) {
          socket.destroySoon();
        }
      }
    },
    waitUntilEmpty(timeoutMs) {
      if (sockets.size === 0) {
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        onEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    destroy() {
      for (const socket of sockets.keys()) {
        socket.destroy();
      }
    },
  };
}
