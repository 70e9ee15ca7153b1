import { isIPv6 } from "node:net";

/** Address of a listener. With port 0 the system chooses a free port. */
export type ListenAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** Size of `sun_path` in unix(7) minus the terminating zero; macOS has four bytes less. */
const maxSocketPathBytes = process.platform === "darwin" ? 103 : 107;

/**
 * Parses `host:port`, `[ipv6]:port` or `unix:/path`. Returns a string with the expected form if the text is none of them or is
 * too long for a socket.
 */
export function parseListenAddress(text: string): ListenAddress | string {
  if (text.startsWith("unix:")) {
    return parseSocketPath(text.slice("unix:".length));
  }
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const host = (match?.[1] ?? match?.[2])?.toLowerCase();
  const port = Number(match?.[3]);
  if (match === null || host === undefined || (match[1] !== undefined && !isPlainIPv6(match[1]))) {
    return "expected host:port, [ipv6]:port or unix:/path";
  }
  if (port > 65535) {
    return "expected a port from 0 to 65535";
  }
  return { kind: "tcp", host, port };
}

/** Formats an address as in a URL's host or a log. Two spellings of one address give the same text. */
export function formatListenAddress(address: ListenAddress): string {
  if (address.kind === "unix") {
    return `unix:${address.path}`;
  }
  return `${isIPv6(address.host) ? new URL(`http://[${address.host}]`).hostname : address.host}:${address.port}`;
}

function parseSocketPath(path: string): ListenAddress | string {
  if (!path.startsWith("/") || path.endsWith("/")) {
    return "expected an absolute path after unix:";
  }
  if (Buffer.byteLength(path) > maxSocketPathBytes) {
    return `expected a path of at most ${maxSocketPathBytes} bytes, the system's limit for sockets`;
  }
  return { kind: "unix", path };
}

/** Reports whether `host` is IPv6 without a zone (`fe80::1%eth0`), which no URL can contain. */
function isPlainIPv6(host: string): boolean {
  return isIPv6(host) && !host.includes("%");
}
