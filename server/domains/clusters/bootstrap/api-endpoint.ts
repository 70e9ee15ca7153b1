import { isIPv6 } from "node:net";

/** Address of a cluster's API servers. */
export interface ApiEndpoint {
  /** An IP address or a DNS name. */
  readonly host: string;
  readonly port: number;
}

/** Returns `host:port`, with an IPv6 address in brackets. */
export function formatEndpoint({ host, port }: ApiEndpoint): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
