import { isIPv6 } from "node:net";

/** Where a cluster's API servers are reached. */
export interface ApiEndpoint {
  /** An IP address, or a DNS name. */
  readonly host: string;
  readonly port: number;
}

/** `host:port`, with an address of IPv6 in brackets. */
export function formatEndpoint({ host, port }: ApiEndpoint): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
