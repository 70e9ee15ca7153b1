import { type ClientHttp2Session, connect, constants } from "node:http2";
import type { Duplex } from "node:stream";
import { keepAlive } from "../../rpc/listener/keep-alive.ts";
import type { CertifiedHost } from "../authority/issue-certificate.ts";
import { hostUnreachable } from "../host-errors.ts";
import type { HostLink, HostLinks } from "../links/host-link.ts";
import { linkPingMs } from "../links/link-protocol.ts";

/** The connections of a hub, which takes them over from its listener. */
export interface OpenLinks extends HostLinks {
  /**
   * Takes over the connection of an agent. If the host has another one that is alive, two agents have the same certificate: the
   * new one is refused. One that does not answer is replaced. While that is being found out, further ones are refused.
   * @param begin accepts the connection, and returns it
   * @param agentId as the agent sends it; undefined if it sends none
   * @returns whether it was taken over, or who has the host's connection: this agent by another address, or another agent
   */
  add(
    host: CertifiedHost,
    begin: () => Promise<Duplex>,
    agentId?: string,
  ): Promise<"taken over" | "same agent" | "another agent">;
  /** The connected hosts. */
  connected(): readonly CertifiedHost[];
  /** Closes the connections of hosts that the fleet no longer has. */
  closeRemoved(isHost: (host: CertifiedHost) => boolean): void;
  close(): void;
}

/** How long a host's connection may take to answer before a new one replaces it. */
const probeMs = 1500;

/**
 * How much of one answer may be on its way, in bytes, and so how much of it waits here for a slow reader. HTTP/2's default of
 * 64 KiB would give a host that is 100 ms away 640 KB/s.
 */
const answerWindowBytes = 262_144;

/** The same for all answers of a host together. Costs no memory, since Node confirms them on this level as they arrive. */
const linkWindowBytes = 4_194_304;

interface Entry {
  readonly host: CertifiedHost;
  readonly link: HostLink;
  readonly session: ClientHttp2Session;
  readonly agentId: string | undefined;
}

/** Starts without connections; the hub's listener adds them. */
export function createHostLinks(): OpenLinks {
  const entries = new Map<string, Entry>();
  /** Hosts that are being added, with the IDs of their agents. Pings of several at once would exceed the number that a session allows, and seem lost. */
  const adding = new Map<string, string | undefined>();
  const listeners = new Set<(host: string) => void>();

  function changed(host: string): void {
    for (const listener of [...listeners]) {
      listener(host);
    }
  }

  async function isAlive({ session }: Entry): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), probeMs);
    if (session.destroyed) {
      resolve(false);
    } else {
      session.ping((error) => resolve(error === null));
    }
    return promise.finally(() => clearTimeout(timer));
  }

  async function replace(host: CertifiedHost, begin: () => Promise<Duplex>, agentId: string | undefined) {
    const { name } = host;
    const earlier = entries.get(name);
    if (earlier !== undefined && (await isAlive(earlier))) {
      return whoseIs(earlier.agentId, agentId);
    }
    earlier?.link.close();
    const connection = await begin();
    if (connection.destroyed) {
      return "taken over";
    }
    const session = connect(`http://${name}`, {
      createConnection: () => connection,
      // A host has nothing to push; a push is a protocol error then, which closes the connection.
      settings: { enablePush: false, initialWindowSize: answerWindowBytes },
    });
    session.setLocalWindowSize(linkWindowBytes);
    const link = createLink(host, session);
    const entry = { host, link, session, agentId };
    entries.set(name, entry);
    keepAlive(session, linkPingMs, connection);
    link.closed.addEventListener("abort", () => {
      if (entries.get(name) === entry) {
        entries.delete(name);
        changed(name);
      }
    });
    changed(name);
    return "taken over";
  }

  return {
    async add(host, begin, agentId) {
      if (adding.has(host.name)) {
        return whoseIs(adding.get(host.name), agentId);
      }
      adding.set(host.name, agentId);
      try {
        return await replace(host, begin, agentId);
      } finally {
        adding.delete(host.name);
      }
    },
    find: (host) => entries.get(host)?.link,
    hosts: () => [...entries.keys()].toSorted(),
    connected: () => [...entries.values()].map(({ host }) => host),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    closeRemoved(isHost) {
      for (const { host, link } of entries.values()) {
        if (!isHost(host)) {
          link.close();
        }
      }
    },
    close() {
      for (const { link } of entries.values()) {
        link.close();
      }
    },
  };
}

/** Says whose connection it is. @param earlier ID of its agent */
function whoseIs(earlier: string | undefined, agentId: string | undefined): "same agent" | "another agent" {
  return agentId !== undefined && earlier === agentId ? "same agent" : "another agent";
}

function createLink({ name: host, id }: CertifiedHost, session: ClientHttp2Session): HostLink {
  const closed = new AbortController();
  const unreachable = () => hostUnreachable(host, "its connection is closed");
  const close = () => session.destroy(undefined, constants.NGHTTP2_NO_ERROR);
  session.on("error", () => {});
  session.once("close", () => closed.abort(unreachable()));
  return {
    host,
    id,
    closed: closed.signal,
    request(headers) {
      if (session.closed || session.destroyed) {
        throw unreachable();
      }
      const stream = session.request(headers, { endStream: false });
      // An agent sends no interim responses (1xx). Endless ones cost a hub 65 MB of garbage within half a second.
      stream.once("headers", close);
      return stream;
    },
    close,
  };
}
