import type { Socket } from "node:net";
import { networkOf } from "../../../config/address-range.ts";
import { createFairTime } from "./fair-time.ts";
import {
  assignConnection,
  type ChargedAddress,
  minimumMs,
  OpenConnection,
  openConnectionOf,
  type UnknownConnection,
} from "./unknown-connection.ts";

export interface UnknownConnections {
  /**
   * Admits a connection now, or when its address has room and CPU time. Nothing may be read from it before. A connection that
   * waits too long is destroyed.
   */
  admit(socket: Socket, onAdmitted: () => void): void;
  /** Returns the connection of a socket; undefined if its caller is known. */
  of(socket: object): UnknownConnection | undefined;
  /** Assigns the connection that was admitted as a TCP socket to the TLS socket on top of it. */
  passToTls(tlsSocket: Socket): void;
  close(): void;
}

export interface UnknownConnectionLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Milliseconds of CPU time per second, for all addresses together. */
  readonly cpuMsPerSecond: number;
  /** Bytes that one connection may waste. */
  readonly wasteBytes: number;
}

/** How long a connection waits for room, and how long an open one cannot be replaced by a waiting one. */
const waitMs = 10_000;
const minimumOpenMs = 10_000;
const sweepEveryMs = 250;
const admitEveryMs = 10;
interface Address extends ChargedAddress {
  readonly key: string;
  readonly waiting: Set<Waiting>;
}

interface Waiting {
  readonly socket: Socket;
  readonly sinceMs: number;
  readonly onAdmitted: () => void;
}

/**
 * Limits connections without an authenticated caller: their number, in total and per source address, and their CPU time, which
 * addresses share evenly. If an address has no room or no time left, a new connection waits unread, which costs nothing; after
 * ten seconds it replaces the oldest, or is destroyed. When the total is exceeded, the address with the most connections loses
 * its oldest, so that another address can always connect.
 */
export function createUnknownConnections(limits: UnknownConnectionLimits): UnknownConnections {
  const { connections, connectionsPerAddress, cpuMsPerSecond, wasteBytes } = limits;
  const time = createFairTime(cpuMsPerSecond, () => performance.now());
  const addresses = new Map<string, Address>();
  /** Connections whose handshakes are not complete. */
  const byPeer = new Map<string, OpenConnection>();
  let openCount = 0;
  let waitingCount = 0;
  let sweepTimer: NodeJS.Timeout | undefined;
  let admitTimer: NodeJS.Timeout | undefined;

  function addressOf(socket: Socket): Address {
    const key = networkOf(socket.remoteAddress ?? "");
    let address = addresses.get(key);
    if (address === undefined) {
      address = { key, time: time.join(), open: new Set(), waiting: new Set() };
      addresses.set(key, address);
      sweepTimer ??= setInterval(sweep, sweepEveryMs).unref();
    }
    return address;
  }

  function mayOpen({ open, time: share }: Address): boolean {
    return open.size < connectionsPerAddress && share.left() >= minimumMs;
  }

  function open(socket: Socket, address: Address, onAdmitted: () => void): void {
    const peer = peerOf(socket);
    const one = new OpenConnection(socket, address, wasteBytes, () => {
      openCount -= 1;
      if (byPeer.get(peer) === one) {
        byPeer.delete(peer);
      }
    });
    openCount += 1;
    byPeer.set(peer, one);
    if (openCount > connections) {
      endOldest(largestBy((each) => each.open.size));
    }
    onAdmitted();
  }

  function largestBy(size: (address: Address) => number): Address {
    return [...addresses.values()].reduce((a, b) => (size(b) > size(a) ? b : a));
  }

  function endOldest(address: Address): void {
    const [oldest] = address.open;
    oldest?.tcpSocket.destroy();
    // Its `close` event comes later, and the next search must not find it again.
    oldest?.leave();
  }

  function wait(socket: Socket, address: Address, onAdmitted: () => void): void {
    const one = { socket, sinceMs: performance.now(), onAdmitted };
    address.waiting.add(one);
    waitingCount += 1;
    socket.once("close", () => stopWaiting(address, one));
    if (address.waiting.size > connectionsPerAddress) {
      refuseOldest(address);
    } else if (waitingCount > connections) {
      refuseOldest(largestBy((each) => each.waiting.size));
    }
    admitTimer ??= setInterval(admitWaiting, admitEveryMs).unref();
  }

  function refuseOldest(address: Address): void {
    const [oldest] = address.waiting;
    if (oldest !== undefined) {
      stopWaiting(address, oldest);
      oldest.socket.destroy();
    }
  }

  function stopWaiting(address: Address, one: Waiting): void {
    if (address.waiting.delete(one)) {
      waitingCount -= 1;
    }
  }

  function admitWaiting(): void {
    while (time.totalLeft() >= 0) {
      const address = nextAdmittable();
      const [one] = address?.waiting ?? [];
      if (address === undefined || one === undefined) {
        break;
      }
      stopWaiting(address, one);
      open(one.socket, address, one.onAdmitted);
    }
    if (waitingCount === 0) {
      clearInterval(admitTimer);
      admitTimer = undefined;
    }
  }

  /** Returns the address with the most time left, of those with a waiting connection that may be opened. */
  function nextAdmittable(): Address | undefined {
    let next: Address | undefined;
    for (const address of addresses.values()) {
      const isBetter = next === undefined || address.time.left() > next.time.left();
      if (isBetter && address.waiting.size > 0 && mayOpen(address)) {
        next = address;
      }
    }
    return next;
  }

  function sweep(): void {
    const now = performance.now();
    for (const address of addresses.values()) {
      for (const one of address.waiting) {
        if (now - one.sinceMs <= waitMs) {
          break;
        }
        stopWaiting(address, one);
        one.socket.destroy();
      }
      const [oldest] = address.open;
      const isFull = address.open.size >= connectionsPerAddress && address.waiting.size > 0;
      if (isFull && oldest !== undefined && now - oldest.openedAtMs > minimumOpenMs) {
        endOldest(address);
      }
      if (address.open.size === 0 && address.waiting.size === 0 && address.time.isFull()) {
        address.time.leave();
        addresses.delete(address.key);
      }
    }
    if (addresses.size === 0) {
      clearInterval(sweepTimer);
      sweepTimer = undefined;
    }
  }

  return {
    admit(socket, onAdmitted) {
      const address = addressOf(socket);
      if (mayOpen(address) && time.totalLeft() >= 0) {
        open(socket, address, onAdmitted);
      } else {
        wait(socket, address, onAdmitted);
      }
    },
    of: openConnectionOf,
    passToTls(tlsSocket) {
      assignConnection(tlsSocket, byPeer.get(peerOf(tlsSocket)));
    },
    close() {
      clearInterval(sweepTimer);
      clearInterval(admitTimer);
    },
  };
}

/** Returns a key of a connection to any listener, by which a TLS socket finds the TCP socket that Node keeps under it. */
function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
