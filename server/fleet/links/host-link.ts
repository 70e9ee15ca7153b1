import type { ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";

/**
 * The open connection of one agent. The agent has opened it; the hub sends requests on it. Requests must have the header of
 * `hubCallerHeader`, since the agent has no other way to know the caller.
 */
export interface HostLink {
  /** Name of the host, from the agent's certificate. */
  readonly host: string;
  /** ID of the host, from the same certificate: distinguishes hosts that had the same name one after the other. */
  readonly id: string;
  /**
   * Begins a request.
   * @throws InfraError HOST_UNREACHABLE when the connection is closed or closing
   */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream;
  /** Aborted when the connection is lost or closed, with an InfraError HOST_UNREACHABLE. */
  readonly closed: AbortSignal;
  close(): void;
}

/** The connections of all hosts to this hub. */
export interface HostLinks {
  /** Returns the connection of a host; undefined while it has none. */
  find(host: string): HostLink | undefined;
  /** Names of the connected hosts, in order. */
  hosts(): readonly string[];
  /** Calls back after a host has connected or lost its connection. Returns a function that removes the listener. */
  onChange(listener: (host: string) => void): () => void;
}
