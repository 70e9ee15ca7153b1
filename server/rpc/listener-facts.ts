import type { ListenerAccess, LvmdProtocol } from "./call.ts";

/** What a listener allows, found for each request by the socket it came in on. */
export interface ListenerFacts {
  readonly address: string;
  /** Full service names; undefined allows all. */
  readonly services: ReadonlySet<string> | undefined;
  readonly access: ListenerAccess;
  readonly isTls: boolean;
  /** Whether it is for this host only: a unix socket, or an address of loopback. */
  readonly isLocal: boolean;
  /** Whether errors carry the details that the gateway adds to them. */
  readonly errorDetails: boolean;
  readonly lvmd: LvmdProtocol;
}
