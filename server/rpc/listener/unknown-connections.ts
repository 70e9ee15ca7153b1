import type { Socket } from "node:net";
import { networkOf } from "../network-of.ts";
import { createFairTime, type TimeShare } from "./fair-time.ts";

/** A connection as long as nobody on it is known. Its work counts as CPU time of its address. */
export interface UnknownConnection {
  countHandshake(): void;
  /** Counts a request. Returns whether the connection has to end because its address has no CPU time left. */
  refusesRequest(): boolean;
  /** Counts bytes of a body. Returns whether the connection has to end because its address has no CPU time left. */
  refusesBody(bytes: number): boolean;
  /** Counts a page that is sent. */
  countPage(bytes: number): void;
  /** Counts what a client has sent in vain. Returns whether the connection has to end because it was too much. */
  refusesWaste(bytes: number): boolean;
  /** Somebody on it is authenticated: gives back what it has taken. */
  identified(): void;
}

export interface UnknownConnections {
  /**
   * Has a connection admitted: now, or when its address has room and CPU time again. Until then nothing may be read of it. One
   * that waits too long is destroyed.
   */
  admit(socket: Socket, onAdmitted: () => void): void;
  /** That of a socket; undefined when its caller is known. */
  of(socket: object): UnknownConnection | undefined;
  /** Makes the connection that was admitted as a TCP socket that of the TLS socket over it. */
  passToTls(tlsSocket: Socket): void;
  close(): void;
}

export interface UnknownConnectionLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Milliseconds of CPU time a second, for all addresses together. */
  readonly cpuMsPerSecond: number;
  /** What one connection may send in vain. */
  readonly wasteBytes: number;
}

/** How long a connection waits for room, and how long one is safe from one that waits. */
const waitMs = 10_000;
const tenureMs = 10_000;
const sweepEveryMs = 250;
const admitEveryMs = 10;
/** After so long a connection may send as much in vain again. */
const wasteForgottenMs = 256_000;

/** What the work of a connection takes, roughly as `npm run bench -- hostile` showed it by profile. */
const connectionMs = 1.5;
const handshakeMs = 2;
const requestMs = 0.3;
const pageMsPerByte = 0.3 / 16_384;
const bodyMsPerByte = 1 / 65_536;
/** Held back until it is seen what a new connection does: its first packets can bring a hundred requests at once. */
const depositMs = 10;
const depositForMs = 1000;
/** With less left no connection is begun: it could not even ask once. */
const leastMs = connectionMs + depositMs + requestMs;

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

/** Node shows a connection of HTTP/2 by a proxy, so that only a property finds what belongs to it. */
const openKey = Symbol("unknown connection");

type KeyedSocket = Socket & { [openKey]?: Open | undefined };

/** A class, as one is made for every connection. */
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
  #hasAsked = false;
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
    if (!this.#hasAsked) {
      this.#hasAsked = true;
      // Those that came in the same packets are counted by then.
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
    const forgottenBytes = this.#wasteLimitBytes * ((now - this.#wasteAtMs) / wasteForgottenMs);
    this.#wasteBytes = Math.max(0, this.#wasteBytes - forgottenBytes) + bytes;
    this.#wasteAtMs = now;
    return this.#wasteBytes > this.#wasteLimitBytes;
  }

  identified(): void {
    if (this.leave()) {
      this.#take(-this.#takenMs);
    }
  }

  /** Returns false when it had left before. */
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

  /** What is held back of the address's time is its own to take. */
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
 * Limits connections on which nobody is authenticated: how many there are, in all and by source address, and the CPU time they take,
 * which addresses share evenly. A connection for which its address has no room or no time waits unread, which costs nothing;
 * after ten seconds it takes the place of the oldest, or is destroyed. Beyond the limit in all the address with most
 * connections loses its oldest, so that another address always gets in.
 */
export function createUnknownConnections(limits: UnknownConnectionLimits): UnknownConnections {
  const { connections, connectionsPerAddress, cpuMsPerSecond, wasteBytes } = limits;
  const time = createFairTime(cpuMsPerSecond, () => performance.now());
  const addresses = new Map<string, Address>();
  /** Those whose handshakes are not over yet. */
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
    return open.size < connectionsPerAddress && share.left() >= leastMs;
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
    // Its `close` comes later, and the next is not to find it once more.
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
    while (time.leftInAll() >= 0) {
      const address = nextToAdmit();
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

  /** Of those where a connection waits and may be opened, the one with most time left. */
  function nextToAdmit(): Address | undefined {
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
      if (isFull && oldest !== undefined && now - oldest.openedAtMs > tenureMs) {
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
      if (mayOpen(address) && time.leftInAll() >= 0) {
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

/** Names a connection to any listener, so that a TLS socket finds the TCP socket that Node keeps under it. */
function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
