import type { Socket } from "node:net";
import { networkOf } from "../network-of.ts";

/** A connection as long as nobody on it is known. */
export interface UnknownConnection {
  /** Counts a request. Returns whether the connection has to end because its address sends too many. */
  refusesRequest(): boolean;
  /** Counts a page that is sent as so many requests as it has 16 KiB. */
  countPage(bytes: number): void;
  /** Counts what a client has sent in vain. Returns whether the connection has to end. */
  refusesWaste(bytes: number): boolean;
  /** Somebody on it is authenticated. */
  identified(): void;
}

export interface UnknownConnections {
  /**
   * Has a connection admitted: now, or when its address has room again, and then unread so far.
   * @param canWait false for one that is being read already; it is refused instead
   * @returns false when it is refused
   */
  admit(socket: Socket, canWait: boolean, onAdmitted: () => void): boolean;
  /** That of a socket; undefined when its caller is known. */
  of(socket: object): UnknownConnection | undefined;
  close(): void;
}

export interface UnknownConnectionLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** From all connections of an address together. */
  readonly requestsPerSecond: number;
  /** What one connection may send in vain. */
  readonly wasteBytes: number;
}

/** How long a connection waits for room, and how long one is safe from one that waits. */
const waitMs = 10_000;
const tenureMs = 10_000;
const tickMs = 250;
/** A place is free again so long after a connection was opened, or was cut, so that a storm of them takes little time. */
const placeMs = 250;
const penaltyMs = 2000;
/** After so long a connection may send as much in vain again. */
const wasteForgottenMs = 256_000;
/** To send so much of a page takes about as long as to answer a request. */
const pageBytesOfRequest = 16_384;
/** Requests beyond a second's that may come at once. */
const burstSeconds = 2;

interface Address {
  readonly key: string;
  /** The oldest first. */
  readonly open: Set<Open>;
  /** Places in use: those of open connections, and of closed ones that are not free yet. */
  places: number;
  readonly waiting: Set<Waiting>;
  tokens: number;
  refilledAtMs: number;
}

interface Open extends UnknownConnection {
  readonly socket: Socket;
  readonly openedAtMs: number;
}

/** Node shows a connection of HTTP/2 by a proxy, so that only a property finds what belongs to it. */
const openKey = Symbol("unknown connection");

type KeyedSocket = Socket & { [openKey]?: Open | undefined };

interface Waiting {
  readonly socket: Socket;
  readonly sinceMs: number;
  readonly onAdmitted: () => void;
}

/**
 * Limits connections on which nobody is authenticated, in all and by source address. A connection beyond its address's limit waits
 * unread, which costs nothing; after ten seconds it takes the place of the oldest. Beyond the limit in all the address with
 * most connections loses its oldest, so that another address always gets in.
 */
export function createUnknownConnections(limits: UnknownConnectionLimits): UnknownConnections {
  const addresses = new Map<string, Address>();
  const burst = limits.requestsPerSecond * burstSeconds;
  let openCount = 0;
  let waitingCount = 0;
  let timer: NodeJS.Timeout | undefined;

  function addressOf(socket: Socket): Address {
    const key = networkOf(socket.remoteAddress ?? "");
    let address = addresses.get(key);
    if (address === undefined) {
      address = {
        key,
        open: new Set(),
        places: 0,
        waiting: new Set(),
        tokens: burst,
        refilledAtMs: performance.now(),
      };
      addresses.set(key, address);
      timer ??= setInterval(tick, tickMs).unref();
    }
    return address;
  }

  function open(socket: KeyedSocket, address: Address): void {
    let wasteBytes = 0;
    let wasteAtMs = performance.now();
    let isOpen = true;
    let isCut = false;
    const leave = (placeAfterMs: number) => {
      if (!isOpen) {
        return;
      }
      isOpen = false;
      openCount -= 1;
      address.open.delete(one);
      socket[openKey] = undefined;
      setTimeout(() => {
        address.places -= 1;
        admitWaiting(address);
      }, placeAfterMs).unref();
    };
    const one: Open = {
      socket,
      openedAtMs: performance.now(),
      refusesRequest() {
        const now = performance.now();
        const earned = ((now - address.refilledAtMs) / 1000) * limits.requestsPerSecond;
        address.tokens = Math.min(address.tokens + earned, burst) - 1;
        address.refilledAtMs = now;
        isCut ||= address.tokens < 0;
        address.tokens = Math.max(address.tokens, 0);
        return isCut;
      },
      countPage(bytes) {
        address.tokens = Math.max(address.tokens - bytes / pageBytesOfRequest, 0);
      },
      refusesWaste(bytes) {
        const now = performance.now();
        const forgottenBytes = limits.wasteBytes * ((now - wasteAtMs) / wasteForgottenMs);
        wasteBytes = Math.max(0, wasteBytes - forgottenBytes) + bytes;
        wasteAtMs = now;
        isCut ||= wasteBytes > limits.wasteBytes;
        return isCut;
      },
      identified: () => leave(0),
    };
    address.places += 1;
    address.open.add(one);
    openCount += 1;
    socket[openKey] = one;
    socket.once("close", () => leave(isCut ? penaltyMs : placeMs));
    if (openCount > limits.connections) {
      const largest = [...addresses.values()].reduce((a, b) => (b.open.size > a.open.size ? b : a));
      endOldest(largest);
    }
  }

  function endOldest({ open }: Address): void {
    const [oldest] = open;
    oldest?.socket.destroy();
    // Its `close` comes later, and the next is not to find it once more.
    oldest?.identified();
  }

  function admitWaiting(address: Address): void {
    for (const waiting of address.waiting) {
      if (address.places >= limits.connectionsPerAddress) {
        return;
      }
      stopWaiting(address, waiting);
      if (!waiting.socket.destroyed) {
        open(waiting.socket, address);
        waiting.onAdmitted();
      }
    }
  }

  function stopWaiting(address: Address, waiting: Waiting): void {
    if (address.waiting.delete(waiting)) {
      waitingCount -= 1;
    }
  }

  function tick(): void {
    const now = performance.now();
    for (const address of addresses.values()) {
      for (const waiting of address.waiting) {
        if (now - waiting.sinceMs > waitMs) {
          stopWaiting(address, waiting);
          waiting.socket.destroy();
        }
      }
      const [oldest] = address.open;
      if (address.waiting.size > 0 && oldest !== undefined && now - oldest.openedAtMs > tenureMs) {
        endOldest(address);
      }
      if (
        address.places === 0 &&
        address.waiting.size === 0 &&
        now - address.refilledAtMs > 1000 * burstSeconds
      ) {
        addresses.delete(address.key);
      }
    }
    if (addresses.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  return {
    admit(socket, canWait, onAdmitted) {
      const address = addressOf(socket);
      if (address.places < limits.connectionsPerAddress) {
        open(socket, address);
        onAdmitted();
        return true;
      }
      if (!canWait || waitingCount >= limits.connections) {
        return false;
      }
      const waiting = { socket, sinceMs: performance.now(), onAdmitted };
      address.waiting.add(waiting);
      waitingCount += 1;
      socket.once("close", () => stopWaiting(address, waiting));
      return true;
    },
    of: (socket) => (socket as KeyedSocket)[openKey],
    close: () => clearInterval(timer),
  };
}
