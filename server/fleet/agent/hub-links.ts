import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { backOffMs } from "../../../adapters/host/back-off.ts";
import { connectedAlready, connectToHub } from "./connect-to-hub.ts";
import type { StoredMembership } from "./enroll.ts";
import type { LinkServer } from "./link-server.ts";

/** The connection to one hub. */
export interface HubState {
  /** `host:port` */
  readonly address: string;
  readonly isConnected: boolean;
  /** Why it is not connected, for people; undefined while it is, and before the first attempt has ended. */
  readonly problem: string | undefined;
}

/** Connections of a gateway to all hubs of its fleet, each opened again whenever it is lost. */
export interface HubLinks {
  states(): readonly HubState[];
  /** Connects to new hubs, and closes the connections to those that are not among them. */
  setHubs(hubs: readonly string[]): void;
  /** Resolves when the first attempt for each hub has ended. */
  attempted(): Promise<void>;
  close(): Promise<void>;
}

export interface HubLinksOptions {
  readonly membership: () => StoredMembership | undefined;
  readonly hubs: readonly string[];
  readonly server: LinkServer;
  /** Version of this gateway. */
  readonly version: string;
  readonly log: { info(message: string): void; warn(message: string, cause?: unknown): void };
}

/** Pauses between attempts: an agent is back within five seconds after its hub. */
const pauses = { firstMs: 250, longestMs: 2000 };

/** Pause before another address of a connected hub is tried again. It ends as soon as a connection is lost. */
const otherAddressPauseMs = 30_000;

/** Begins to connect to all hubs at once. Without a membership it keeps trying until there is one. */
export function openHubLinks(options: HubLinksOptions): HubLinks {
  const links = new Map<string, HubLink>();
  const closing = new Set<Promise<void>>();
  let lost = new AbortController();
  const parts: HubLinkOptions = {
    ...options,
    agentId: randomUUID(),
    anyLost: () => lost.signal,
    onLost() {
      lost.abort();
      lost = new AbortController();
    },
  };

  function open(address: string): HubLink {
    const closed = new AbortController();
    const link = openHubLink(address, parts, closed.signal);
    return { ...link, close: () => closed.abort() };
  }

  function setHubs(hubs: readonly string[]): void {
    for (const [address, { close, ended }] of links) {
      if (!hubs.includes(address)) {
        links.delete(address);
        close();
        closing.add(ended);
        void ended.then(() => closing.delete(ended));
      }
    }
    for (const address of hubs) {
      if (!links.has(address)) {
        links.set(address, open(address));
      }
    }
  }

  setHubs(options.hubs);
  return {
    states: () => [...links.values()].map(({ state }) => state()),
    setHubs,
    attempted: async () => void (await Promise.all([...links.values()].map(({ attempted }) => attempted))),
    async close() {
      setHubs([]);
      await Promise.all(closing);
    },
  };
}

interface HubLink {
  state(): HubState;
  readonly attempted: Promise<void>;
  readonly ended: Promise<void>;
  close(): void;
}

interface HubLinkOptions extends HubLinksOptions {
  readonly agentId: string;
  /** Returns a signal that is aborted when a connection to any hub is lost. */
  anyLost(): AbortSignal;
  onLost(): void;
}

/** Keeps one connection open until the signal is aborted. */
function openHubLink(
  address: string,
  { membership, server, version, log, agentId, anyLost, onLost }: HubLinkOptions,
  signal: AbortSignal,
): Omit<HubLink, "close"> {
  let isConnected = false;
  let problem: string | undefined;
  /** Whether the hub has a connection by another of its addresses. */
  let isSpare = false;
  const { promise: attempted, resolve: onAttempted } = Promise.withResolvers<void>();

  async function connectOnce(): Promise<Duplex | undefined> {
    const identity = membership();
    if (identity === undefined) {
      return undefined;
    }
    try {
      const connection = await connectToHub(address, identity, version, signal, agentId);
      if (problem !== undefined) {
        log.info(`connected to hub ${address}`);
      }
      problem = undefined;
      return connection;
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      isSpare = error instanceof Error && error.cause === connectedAlready;
      if (problem !== words && !isSpare && !signal.aborted) {
        log.warn(`hub ${address} cannot be reached: ${words}; retrying`);
      }
      problem = words;
      return undefined;
    }
  }

  async function stayConnected(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const lost = anyLost();
      isSpare = false;
      const connection = await connectOnce();
      if (connection === undefined) {
        failures += 1;
      } else {
        failures = 0;
        isConnected = true;
        const lost = until(connection, signal);
        server.serve(connection, address);
        onAttempted();
        await lost;
        isConnected = false;
        problem = "the connection was lost";
        onLost();
      }
      onAttempted();
      if (isSpare) {
        failures = 0;
        await delay(otherAddressPauseMs, undefined, { signal: AbortSignal.any([signal, lost]) }).catch(
          () => undefined,
        );
      } else if (!signal.aborted) {
        const pauseMs = failures === 0 ? Math.random() * pauses.firstMs : backOffMs(failures, pauses);
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  const ended = stayConnected();
  return { state: () => ({ address, isConnected, problem }), attempted, ended };
}

/** Resolves when a connection is closed, which an aborted signal does. */
function until(connection: Duplex, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => connection.destroy();
  connection.once("close", () => {
    signal.removeEventListener("abort", end);
    resolve();
  });
  signal.addEventListener("abort", end, { once: true });
  // Both may have happened since the hub accepted the connection.
  if (signal.aborted) {
    end();
  }
  if (connection.closed) {
    resolve();
  }
  return promise;
}
