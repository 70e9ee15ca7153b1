import type { ListenerAccess, LvmdProtocol } from "./call.ts";

/** Properties of a listener, looked up for each request by the socket that it arrived on. */
export interface ListenerFacts {
  readonly address: string;
  /** Full service names; undefined allows all. */
  readonly services: ReadonlySet<string> | undefined;
  readonly access: ListenerAccess;
  readonly isTls: boolean;
  /** Whether only this host can reach it: a unix socket, or a loopback address. */
  readonly isLocal: boolean;
  /** Whether errors carry the details that the gateway adds. */
  readonly errorDetails: boolean;
  readonly lvmd: LvmdProtocol;
  /** Host of the fleet that every call goes to; absent where the call names it. */
  readonly fleetHost?: string | undefined;
}
