import type { Socket } from "node:net";
import type { TimeShare } from "./fair-time.ts";

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
export const minimumMs = connectionMs + depositMs + requestMs;

/** The address of connections, to which their work is charged. */
export interface ChargedAddress {
  readonly time: TimeShare;
  /** The oldest first. */
  readonly open: Set<OpenConnection>;
}

/** Node wraps an HTTP/2 connection in a proxy, so its entry can only be found through a property. */
const openKey = Symbol("unknown connection");

type KeyedSocket = Socket & { [openKey]?: OpenConnection | undefined };

/** A class, because one is created for every connection. */
export class OpenConnection implements UnknownConnection {
  readonly openedAtMs = performance.now();
  /** A TLS socket ends with the TCP socket under it. */
  readonly tcpSocket: Socket;
  readonly #address: ChargedAddress;
  readonly #wasteLimitBytes: number;
  readonly #onLeft: (one: OpenConnection) => void;
  #wasteBytes = 0;
  #wasteAtMs = this.openedAtMs;
  #takenMs = 0;
  #deposit: NodeJS.Timeout | undefined;
  #hasRequested = false;
  #isOpen = true;

  constructor(
    tcpSocket: Socket,
    address: ChargedAddress,
    wasteLimitBytes: number,
    onLeft: (one: OpenConnection) => void,
  ) {
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

/** Returns the connection of a socket; undefined if its caller is known. */
export function openConnectionOf(socket: object): OpenConnection | undefined {
  return (socket as KeyedSocket)[openKey]?.ifOpen();
}

/** Assigns the connection of a TCP socket to the TLS socket on top of it. */
export function assignConnection(tlsSocket: Socket, one: OpenConnection | undefined): void {
  (tlsSocket as KeyedSocket)[openKey] = one;
}
