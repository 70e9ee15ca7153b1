import type { Socket } from "node:net";
import { networkOf } from "../../../config/address-range.ts";
import { createFairTime, type TimeShare } from "./fair-time.ts";

/** A connection without an authenticated caller. Its work is charged as CPU time to its address. */
export interface UnknownConnection {
  countHandshake(): void;
  /** Counts a request. Returns whether the connection must be closed because its address has no CPU time left. */
  refusesRequest(): boolean;
  /** Counts bytes of a body. Returns whether the connection must be closed because its address has no CPU time left. */
  refusesBody(bytes: number): boolean;
  /** Counts a page that is sent. */
  countPage(bytes: number): void;
  /**
   * Counts wasted bytes, sent for requests that are already answered. Returns whether the connection must be closed because it
   * has wasted too much.
   */
  refusesWaste(bytes: number): boolean;
  /** Called when a caller on it is authenticated: returns everything that it has taken. */
  identified(): void;
}

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
/** Time after which a connection's budget of wasted bytes is full again. */
const wasteResetMs = 256_000;

/** CPU time of a connection's work, as roughly measured by profiling `npm run bench -- hostile`. */
const connectionMs = 1.5;
const handshakeMs = 2;
const requestMs = 0.3;
const pageMsPerByte = 0.3 / 16_384;
const bodyMsPerByte = 1 / 65_536;
/** Held back until it is clear what a new connection does: its first packets can contain a hundred requests. */
const depositMs = 10;
const depositForMs = 1000;
/** With less than this left no connection is admitted, since it could not even send one request. */
const minimumMs = connectionMs + depositMs + requestMs;

interface Address {
  readonly key: string;
  readonly time: TimeShare;
  /** The oldest first. */
  readonly open: Set<Open>;
  readonly waiting: Set<Waiting>;
}

interface Waiting {
  readonly socket: Socket;
  readonly sinceMs: number;
  readonly onAdmitted: () => void;
}

/** Node wraps an HTTP/2 connection in a proxy, so its entry can only be found through a property. */
const openKey = Symbol("unknown connection");

type KeyedSocket = Socket & { [openKey]?: Open | undefined };

/** A class, because one is created for every connection. */
class Open implements UnknownConnection {
  readonly openedAtMs = performance.now();
  /** A TLS socket ends with the TCP socket under it. */
  readonly tcpSocket: Socket;
  readonly #address: Address;
  readonly #wasteLimitBytes: number;
  readonly #onLeft: (one: Open) => void;
  #wasteBytes = 0;
  #wasteAtMs = this.openedAtMs;
  #takenMs = 0;
  #deposit: NodeJS.Timeout | undefined;
  #hasRequested = false;
  #isOpen = true;

  constructor(tcpSocket: Socket, address: Address, wasteLimitBytes: number, onLeft: (one: Open) => void) {
    this.tcpSocket = tcpSocket;
    this.#address = address;
    this.#wasteLimitBytes = wasteLimitBytes;
    this.#onLeft = onLeft;
    this.#take(connectionMs + depositMs);
    this.#deposit = setTimeout(() => this.#returnDeposit(), depositForMs).unref();
    address.open.add(this);
    (tcpSocket as KeyedSocket)[openKey] = this;
    tcpSocket.once("close", () => this.leave());
  }

  countHandshake(): void {
    this.#take(handshakeMs);
  }

  refusesRequest(): boolean {
    this.#take(requestMs);
    if (!this.#hasRequested) {
      this.#hasRequested = true;
      // By then, requests that came in the same packets are counted.
      setImmediate(() => this.#returnDeposit());
    }
    return this.#isBeyond();
  }

  refusesBody(bytes: number): boolean {
    this.#take(bytes * bodyMsPerByte);
    return this.#isBeyond();
  }

  countPage(bytes: number): void {
    this.#take(bytes * pageMsPerByte);
  }

  refusesWaste(bytes: number): boolean {
    const now = performance.now();
    const forgottenBytes = this.#wasteLimitBytes * ((now - this.#wasteAtMs) / wasteResetMs);
    this.#wasteBytes = Math.max(0, this.#wasteBytes - forgottenBytes) + bytes;
    this.#wasteAtMs = now;
    return this.#wasteBytes > this.#wasteLimitBytes;
  }

  identified(): void {
    if (this.leave()) {
      this.#take(-this.#takenMs);
    }
  }

  /** Returns false if it had already left. */
  leave(): boolean {
    if (!this.#isOpen) {
      return false;
    }
    this.#isOpen = false;
    this.#returnDeposit();
    this.#address.open.delete(this);
    this.#onLeft(this);
    return true;
  }

  ifOpen(): this | undefined {
    return this.#isOpen ? this : undefined;
  }

  #take(ms: number): void {
    this.#takenMs += ms;
    this.#address.time.take(ms);
  }

  /** The connection may use the time that is held back for it. */
  #isBeyond(): boolean {
    const heldBackMs = this.#deposit === undefined ? 0 : depositMs;
    return this.#address.time.left() + heldBackMs < 0;
  }

  #returnDeposit(): void {
    if (this.#deposit !== undefined) {
      clearTimeout(this.#deposit);
      this.#deposit = undefined;
      this.#take(-depositMs);
    }
  }
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
  const byPeer = new Map<string, Open>();
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
    const one = new Open(socket, address, wasteBytes, () => {
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
    of: (socket) => (socket as KeyedSocket)[openKey]?.ifOpen(),
    passToTls(tlsSocket) {
      (tlsSocket as KeyedSocket)[openKey] = byPeer.get(peerOf(tlsSocket));
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
